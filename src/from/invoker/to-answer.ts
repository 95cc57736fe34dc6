import { isMcpResult, type McpResult } from "../../catalog/tool-schemas.ts";
import {
  audioBlock,
  content,
  imageBlock,
  linkBlock,
  resourceBlock,
  textBlock,
  type BlockAnnotations,
  type Content,
  type ContentBlock,
  type LinkDefinition,
} from "../../catalog/content.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";

/** For what a value is answered. */
export interface AnsweredFor {
  /** Whether the tool has said what it answers. */
  readonly isDeclared: boolean;
  /** Says something beside the answer. */
  readonly addMeta: (members: JsonObject) => void;
}

/** What is said of the connection that a result came by is of no other one. */
function toMeta(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !key.startsWith("io.modelcontextprotocol/")));
}

/** What has failed is held to no output: where there is one, what it says to programs is said in a block. */
function toFailure({ content: blocks, structuredContent }: McpResult, isDeclared: boolean): Content {
  if (structuredContent === undefined || !isDeclared) {
    return content(blocks.map(toBlock), { structured: structuredContent, isError: true });
  }
  const text = anyCodec.stringify(structuredContent);
  const said = blocks.some((block) => block["text"] === text) ? [] : [text];
  return content([...blocks.map(toBlock), ...said], { isError: true });
}

function passOn(result: McpResult, { isDeclared, addMeta }: AnsweredFor): unknown {
  const { content: blocks, structuredContent, isError, _meta } = result;
  if (_meta !== undefined) addMeta(toMeta(_meta));
  if (isError === true) return toFailure(result, isDeclared);
  // Who reads no more than blocks is told it by one too.
  if (blocks.length === 0 && structuredContent !== undefined) return structuredContent;
  return content(blocks.map(toBlock), { structured: structuredContent });
}

function texts(json: JsonObject): Readonly<Record<string, string>> {
  // What else there is of other types is left out.
  return Object.fromEntries(Object.entries(json).filter(([, value]) => typeof value === "string")) as Record<
    string,
    string
  >;
}

/** What is said of a block besides; refused by whoever makes one where it is not what it has to be. */
function besides({ annotations, _meta }: JsonObject): { annotations?: BlockAnnotations; meta?: JsonObject } {
  return {
    // Looked at there, field by field.
    ...(isJsonObject(annotations) ? { annotations } : {}),
    ...(isJsonObject(_meta) ? { meta: _meta } : {}),
  };
}

function toResource(block: JsonObject): ContentBlock {
  const { uri = "", mimeType, text, blob } = texts(isJsonObject(block["resource"]) ? block["resource"] : {});
  const held = blob === undefined ? { text: text ?? "" } : { bytes: blob };
  return resourceBlock({ ...besides(block), uri, ...(mimeType === undefined ? {} : { mimeType }), ...held });
}

function toLink(block: JsonObject): ContentBlock {
  const { uri = "", name = "", title, description, mimeType } = texts(block);
  // Looked at where the block is made, as all of it is.
  const { size, icons } = block as Pick<LinkDefinition, "size" | "icons">;
  const said = Object.entries({ title, description, mimeType, size, icons }).filter(([, value]) => value !== undefined);
  return linkBlock({ ...besides(block), uri, name, ...Object.fromEntries(said) });
}

/** A block as it travels -> one of ours; of a sort that nobody knows, its JSON. @throws SurfaceError `INVALID_OPTION`. */
function toBlock(block: JsonObject): ContentBlock {
  const { type, text = "", data = "", mimeType = "" } = texts(block);
  if (type === "text") return textBlock(text, besides(block));
  if (type === "image") return imageBlock({ ...besides(block), data, mimeType });
  if (type === "audio") return audioBlock({ ...besides(block), data, mimeType });
  if (type === "resource") return toResource(block);
  if (type === "resource_link") return toLink(block);
  return textBlock(JSON.stringify(block));
}

/** What is no object: a text as it is, anything else as its JSON, beside which programs are told it. */
function toBare(value: JsonValue | undefined, isDeclared: boolean): Content {
  if (value === undefined) return content([""]);
  if (typeof value !== "string") return content([anyCodec.stringify(value)], { structured: value });
  return content([value], isDeclared ? { structured: value } : {});
}

/**
 * What an invoker answered -> what its tool does: an object as it is, a text as it is, anything else as its JSON, beside which
 * programs are told it as a value; nothing as an empty text. What has a declared output is as that says.
 *
 * @throws SurfaceError `INVALID_OPTION` for a block that is none, `UNSERIALISABLE`.
 */
export function toAnswer(value: unknown, answered: AnsweredFor): unknown {
  const { isDeclared } = answered;
  if (typeof value === "object" && value !== null) {
    // One that has said what it answers has to say it to programs: what says nothing to them is what it has said.
    const isPassedOn =
      isMcpResult(value) && (!isDeclared || value.isError === true || value.structuredContent !== undefined);
    if (isPassedOn) return passOn(value, answered);
    if (!Array.isArray(value)) return value;
  }
  // How a declared one is written follows from its schema.
  if (isDeclared && typeof value !== "string") return value;
  // Only JSON is left: what is none is refused where it is written.
  return toBare(value as JsonValue | undefined, isDeclared);
}

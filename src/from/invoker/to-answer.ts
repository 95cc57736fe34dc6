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
} from "../../catalog/content.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";

/** A result as MCP has them. */
interface McpResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

function isMcpResult(value: object): value is McpResult {
  const blocks: unknown = "content" in value ? value.content : undefined;
  const isOne = (block: unknown): boolean => isJsonObject(block) && typeof block["type"] === "string";
  return Array.isArray(blocks) && blocks.every(isOne) && (blocks.length > 0 || "isError" in value);
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
  const said = Object.entries({ title, description, mimeType }).filter(([, value]) => value !== undefined);
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
 * @param isDeclared - whether the tool has said what it answers.
 * @throws SurfaceError `INVALID_OPTION` for a block that is none, `UNSERIALISABLE`.
 */
export function toAnswer(value: unknown, isDeclared: boolean): unknown {
  if (typeof value === "object" && value !== null) {
    if (isMcpResult(value)) {
      const isError = value.isError === true;
      return content(value.content.map(toBlock), { structured: value.structuredContent, isError });
    }
    if (!Array.isArray(value)) return value;
  }
  // How a declared one is written follows from its schema.
  if (isDeclared && typeof value !== "string") return value;
  // Only JSON is left: what is none is refused where it is written.
  return toBare(value as JsonValue | undefined, isDeclared);
}

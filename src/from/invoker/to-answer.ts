import { isMcpResult, type McpResult } from "../../catalog/tool-schemas.ts";
import { content, textBlock, type Content, type ContentBlock } from "../../catalog/content/content.ts";
import { isBlockType, readBlock } from "../../catalog/content/rich-content.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";

/** The tool that answers. */
export interface AnswerTarget {
  /** Whether the tool has an output schema. */
  readonly isDeclared: boolean;
  /** Adds members to `_meta` of the result. */
  readonly addMeta: (members: JsonObject) => void;
}

/** Drops members about the connection of the invoker. */
function toMeta(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !key.startsWith("io.modelcontextprotocol/")));
}

/** An error need not fit the output schema. If there is one, `structuredContent` becomes a text block. */
function toFailure({ content: blocks, structuredContent }: McpResult, isDeclared: boolean): Content {
  if (structuredContent === undefined || !isDeclared) {
    return content(blocks.map(toBlock), { structured: structuredContent, isError: true });
  }
  const text = anyCodec.stringify(structuredContent);
  const said = blocks.some((block) => block["text"] === text) ? [] : [text];
  return content([...blocks.map(toBlock), ...said], { isError: true });
}

function passOn(result: McpResult, { isDeclared, addMeta }: AnswerTarget): unknown {
  const { content: blocks, structuredContent, isError, _meta } = result;
  if (_meta !== undefined) addMeta(toMeta(_meta));
  if (isError === true) return toFailure(result, isDeclared);
  // The catalog adds a text block for it.
  if (blocks.length === 0 && structuredContent !== undefined) return structuredContent;
  return content(blocks.map(toBlock), { structured: structuredContent });
}

/** Other MCP servers write `null` for members that they leave out. */
function withoutNulls(json: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null));
}

/** Returns a block of an MCP result; its JSON as text for an unknown type. @throws SurfaceError `INVALID_OPTION`. */
function toBlock(block: JsonObject): ContentBlock {
  if (!isBlockType(block["type"])) return textBlock(JSON.stringify(block));
  const given = withoutNulls(block);
  const { resource } = given;
  return readBlock(isJsonObject(resource) ? { ...given, resource: withoutNulls(resource) } : given);
}

/** Returns the content of a value that is not an object: a text as it is, anything else as JSON and as `structuredContent`. */
function toBare(value: JsonValue | undefined, isDeclared: boolean): Content {
  if (value === undefined) return content([""]);
  if (typeof value !== "string") return content([anyCodec.stringify(value)], { structured: value });
  return content([value], isDeclared ? { structured: value } : {});
}

/**
 * Returns the answer of a tool for what its invoker returned: an MCP result becomes content; an object and a text stay as they are;
 * anything else becomes JSON and `structuredContent`; `undefined` an empty text. With an output schema, the value stays as it is.
 *
 * @throws SurfaceError `INVALID_OPTION` for an invalid block, `UNSERIALISABLE`.
 */
export function toAnswer(value: unknown, answered: AnswerTarget): unknown {
  const { isDeclared } = answered;
  if (typeof value === "object" && value !== null) {
    // With an output schema, a value without `structuredContent` is the output itself.
    const isPassedOn =
      isMcpResult(value) && (!isDeclared || value.isError === true || value.structuredContent !== undefined);
    if (isPassedOn) return passOn(value, answered);
    if (!Array.isArray(value)) return value;
  }
  // The catalog encodes it by the output schema.
  if (isDeclared && typeof value !== "string") return value;
  // The catalog refuses what is not JSON.
  return toBare(value as JsonValue | undefined, isDeclared);
}

import { deepFreeze, isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { SurfaceError } from "../../errors.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { SchemaWithJson } from "../../schema/standard.ts";
import type { Icon } from "../../tags/display-metadata.ts";
import {
  audioBlock,
  content,
  imageBlock,
  isContent,
  kContent,
  linkBlock,
  resourceBlock,
  textBlock,
  type BlockAnnotations,
  type BlockOptions,
  type Content,
  type ContentBlock,
  type ContentOptions,
  type EmbeddedDefinition,
  type LinkDefinition,
  type MediaDefinition,
} from "./content.ts";

const textJson = { type: "string" };

/** Returns the schema of an object with these fields and no others; a `?` marks optional ones. */
function closed(fields: Readonly<Record<string, JsonObject>>): JsonObject {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace("?", ""), schema])),
    required: entries.flatMap(([name]) => (name.endsWith("?") ? [] : [name])),
    additionalProperties: false,
  };
}

function block(type: string, fields: Readonly<Record<string, JsonObject>>): JsonObject {
  const open = { type: "object", additionalProperties: {} };
  return closed({ type: { const: type }, ...fields, "annotations?": open, "_meta?": open });
}

/** Describes the fields of the blocks. Faces check their values: each result passes {@link richContent} again. */
function makeSchema(): JsonObject {
  const media = { data: textJson, mimeType: textJson };
  const held = { uri: textJson, "mimeType?": textJson };
  const link = { uri: textJson, name: textJson, "title?": textJson, "description?": textJson, "mimeType?": textJson };
  const icons = { type: "array", items: { type: "object", additionalProperties: {} } };
  const blocks = [
    block("text", { text: textJson }),
    block("image", media),
    block("audio", media),
    block("resource", { resource: closed({ ...held, text: textJson }) }),
    block("resource", { resource: closed({ ...held, blob: textJson }) }),
    block("resource_link", { ...link, "size?": { type: "integer" }, "icons?": icons }),
  ];
  const items = { anyOf: blocks };
  return deepFreeze(closed({ blocks: { type: "array", items }, "structured?": {}, "isError?": { type: "boolean" } }));
}

let madeSchema: JsonObject | undefined;

/** Returns the JSON Schema of rich content on a link. */
function contentJsonSchema(): JsonObject {
  return (madeSchema ??= makeSchema());
}

/** The members that any block may have. */
interface AnyBlock {
  readonly annotations?: BlockAnnotations;
  readonly _meta?: JsonObject;
}

/** An embedded resource: its text, or its bytes in base64. */
type HeldResource = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string; readonly blob?: never }
  | { readonly blob: string; readonly text?: never }
);

/** One block as JSON. Bytes are in base64. */
export type RichBlock = AnyBlock &
  (
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
    | { readonly type: "resource"; readonly resource: HeldResource }
    | {
        readonly type: "resource_link";
        readonly uri: string;
        readonly name: string;
        readonly title?: string;
        readonly description?: string;
        readonly mimeType?: string;
        readonly size?: number;
        readonly icons?: readonly Icon[];
      }
  );

/** Rich content as JSON: the output of a procedure with {@link richContent}, as clients receive it. */
export interface RichContent {
  readonly blocks: readonly RichBlock[];
  /** The same for programs: any JSON. */
  readonly structured?: JsonValue;
  /** Whether the request failed. */
  readonly isError?: boolean;
}

/** The schema of rich content. */
export type RichContentSchema = SchemaWithJson<Content | RichContent, RichContent>;

/** Marks the schema, also for another copy of this package. */
const kRich: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.rich-content");

function refuse(what: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Cannot read content: ${what}`);
}

type BlockReader = (json: JsonObject, options: BlockOptions) => ContentBlock;

const readers: Readonly<Record<RichBlock["type"], BlockReader>> = {
  // The functions that create blocks check all members.
  text: (json, options) => textBlock(json["text"] as string, options),
  // As above.
  image: (json, options) => imageBlock({ ...json, ...options } as unknown as MediaDefinition),
  // As above.
  audio: (json, options) => audioBlock({ ...json, ...options } as unknown as MediaDefinition),
  resource(json, options) {
    const held = json["resource"];
    if (!isJsonObject(held)) throw refuse('"resource" of a resource block must be an object');
    const { uri, mimeType, text, blob } = held;
    const bytes = blob === undefined ? {} : { bytes: blob };
    // As above.
    return resourceBlock({ ...options, uri, mimeType, text, ...bytes } as unknown as EmbeddedDefinition);
  },
  // As above.
  resource_link: (json, options) => linkBlock({ ...json, ...options } as unknown as LinkDefinition),
};

/** Returns whether `type` is one of the five types of blocks. */
export function isBlockType(type: unknown): type is RichBlock["type"] {
  return typeof type === "string" && Object.hasOwn(readers, type);
}

/** Reads a block as JSON. @throws SurfaceError `INVALID_OPTION`. */
export function readBlock(given: unknown): ContentBlock {
  const type = isJsonObject(given) ? given["type"] : undefined;
  if (!isJsonObject(given) || !isBlockType(type)) {
    throw refuse('a block must be an object with a "type" of content blocks');
  }
  const { annotations, _meta: meta } = given;
  // The function that creates the block checks them.
  const options = { annotations, meta } as BlockOptions;
  return readers[type](given, options);
}

/** Returns the members of rich content, unchecked. */
function membersOf(value: unknown): ContentOptions & { readonly blocks: readonly unknown[] } {
  if (isContent(value)) return value[kContent];
  if (!isJsonObject(value) || !Array.isArray(value["blocks"])) {
    throw refuse("it must be the result of content(), or { blocks, structured? } as JSON");
  }
  const { blocks, structured, isError } = value;
  // `content` checks it.
  return { blocks, structured, ...(isError === undefined ? {} : { isError: isError as boolean }) };
}

/** Reads rich content. Checks every block again, and drops unknown members. @throws SurfaceError `INVALID_OPTION`. */
function readContent(value: unknown): Content {
  const { blocks, ...options } = membersOf(value);
  return content([...blocks].map(readBlock), options);
}

function toPlain({ [kContent]: { blocks, structured, isError } }: Content): RichContent {
  // The functions that create blocks write no other JSON.
  const plain = Object.freeze([...blocks]) as unknown as RichContent["blocks"];
  const failed = isError === true ? { isError } : {};
  if (structured === undefined) return Object.freeze({ blocks: plain, ...failed });
  return Object.freeze({ blocks: plain, structured: anyCodec.encode(structured), ...failed });
}

function validate(
  value: unknown,
): { readonly value: RichContent } | { readonly issues: readonly [{ message: string }] } {
  try {
    return { value: toPlain(readContent(value)) };
  } catch (cause) {
    // A trap or a getter of the value may throw anything.
    const message = cause instanceof SurfaceError ? cause.message : "expected the result of content()";
    return { issues: [{ message }] };
  }
}

/**
 * The output schema of a procedure that returns content blocks: its handler returns the result of `content()`, or the same as JSON,
 * which is what clients get, over any link. Its tool returns the blocks and has no output schema.
 *
 * @example
 * ```ts
 * const chart = mcpTool(readOnly(procedure({ output: richContent })));
 * ```
 */
export const richContent: RichContentSchema = /* @__PURE__ */ Object.freeze({
  [kRich]: true,
  "~standard": {
    version: 1,
    vendor: "surface-mcp",
    validate,
    jsonSchema: { input: contentJsonSchema, output: contentJsonSchema },
  },
} as const);

/** Returns whether a schema is {@link richContent}, of any copy of this package. */
export function isRichContent(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && kRich in schema;
}

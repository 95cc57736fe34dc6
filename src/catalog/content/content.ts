import { isObject } from "../../options/is-object.ts";
import {
  flag,
  listOf,
  numberFrom,
  oneOf,
  option,
  required,
  text,
  unchecked,
  wholeNumber,
  type Option,
  type OptionFields,
} from "../../options/option.ts";
import { invalidOption, pickOptions } from "../../options/read-options.ts";
import type { JsonObject } from "../../schema/json.ts";
import {
  iconList,
  isMimeType,
  freezeDisplayMetadata,
  metaObject,
  mimeTypeOption,
  type Icon,
} from "../../tags/display-metadata.ts";

/** The key of a block's JSON. Registered globally, so that two copies of this package accept each other's blocks. */
const kBlock: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.content-block");

/** The key of rich content. Registered globally, too. */
export const kContent: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.content");

/** One block of content, created by {@link textBlock}, {@link imageBlock}, and so on. It has no JSON form. */
export interface ContentBlock {
  readonly [kBlock]: JsonObject;
}

/** Rich content, created by {@link content}. */
export interface Content {
  readonly [kContent]: {
    readonly blocks: readonly JsonObject[];
    readonly structured: unknown;
    readonly isError?: true;
  };
}

/** Options of {@link content}. */
export interface ContentOptions {
  /** The `structuredContent`. Must fit the tool's `output` if it has one. */
  readonly structured?: unknown;
  /** Whether the content reports a failure. @default false */
  readonly isError?: boolean;
}

/** The audience, the priority and the age of a block. */
export interface BlockAnnotations {
  readonly audience?: readonly ("user" | "assistant")[];
  /** From 0, the least, to 1. */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** Options of every block. */
export interface BlockOptions {
  readonly annotations?: BlockAnnotations;
  /** The `_meta` of the block. */
  readonly meta?: JsonObject;
}

/** Bytes, or their base64. */
export type BlockBytes = Uint8Array | string;

/** Options of {@link imageBlock} and {@link audioBlock}. */
export interface MediaDefinition extends BlockOptions {
  readonly data: BlockBytes;
  readonly mimeType: string;
}

/** Options of {@link resourceBlock}: a resource with its text or bytes. */
export type EmbeddedDefinition = BlockOptions & { readonly uri: string; readonly mimeType?: string } & (
    | { readonly text: string; readonly bytes?: never }
    | { readonly bytes: BlockBytes; readonly text?: never }
  );

/** Options of {@link linkBlock}: a resource of this server, or anything else with a URI. */
export interface LinkDefinition extends BlockOptions {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
  readonly icons?: readonly Icon[];
}

const maxBlocks = 1000;
const maxUriLength = 8192;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;
const uriPattern = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"]+$/;
const datePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

const uri = option(
  "an absolute URI",
  (value) => typeof value === "string" && value.length <= maxUriLength && uriPattern.test(value),
);

/** Bytes of a block or a body. */
export const blockBytes: Option = option(
  "a Uint8Array, or a text in base64",
  (value) => value instanceof Uint8Array || (typeof value === "string" && value.length % 4 === 0 && base64.test(value)),
);

const annotationFields: OptionFields<BlockAnnotations> = {
  audience: listOf(oneOf("user", "assistant"), 'a list of "user" and "assistant"'),
  priority: numberFrom(0, 1),
  lastModified: option("an ISO 8601 date and time", (value) => typeof value === "string" && datePattern.test(value)),
};

const blockFields: OptionFields<BlockOptions> = {
  annotations: option("an object", isObject),
  meta: metaObject,
};

const textFields: OptionFields<BlockOptions & { readonly text: string }> = { text: required(text), ...blockFields };

const resourceFields: OptionFields<EmbeddedDefinition> = {
  uri: required(uri),
  mimeType: mimeTypeOption,
  text,
  bytes: blockBytes,
  ...blockFields,
};

const linkFields: OptionFields<LinkDefinition> = {
  uri: required(uri),
  name: required(text),
  title: text,
  description: text,
  mimeType: mimeTypeOption,
  size: wholeNumber(0, Number.MAX_SAFE_INTEGER, " of bytes"),
  icons: iconList,
  ...blockFields,
};

/** Returns the base64 of bytes that {@link blockBytes} has checked. */
export function toBase64(bytes: BlockBytes): string {
  return typeof bytes === "string"
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

type GivenOptions = { readonly [Key in keyof BlockOptions]?: BlockOptions[Key] | undefined };

function toBlock(json: JsonObject, { annotations, meta }: GivenOptions, doing: string): ContentBlock {
  const read = annotations && pickOptions(annotations, annotationFields, doing);
  const audience = read?.audience && { audience: [...read.audience] };
  // Fields that were checked: texts, numbers and the audience.
  const annotated = read && { annotations: { ...read, ...audience } as JsonObject };
  return Object.freeze({
    [kBlock]: Object.freeze({ ...json, ...annotated, ...(meta && { _meta: freezeDisplayMetadata({ meta }).meta }) }),
  });
}

/** Creates a block of text. @throws SurfaceError `INVALID_OPTION`, as all functions that create blocks. */
export function textBlock(given: string, options: BlockOptions = {}): ContentBlock {
  const doing = "Cannot make a text block";
  const { text: said, ...block } = pickOptions({ ...options, text: given }, textFields, doing);
  return toBlock({ type: "text", text: said }, block, doing);
}

function toMedia(type: "image" | "audio", definition: MediaDefinition): ContentBlock {
  const doing = `Cannot make an ${type} block`;
  const family: Option = option(
    `a type and a subtype, like "${type}/…"`,
    (value) => isMimeType(value) && value.toLowerCase().startsWith(`${type}/`),
  );
  const fields = { data: required(blockBytes), mimeType: required(family), ...blockFields };
  const { data, mimeType, ...block } = pickOptions(definition, fields, doing);
  return toBlock({ type, data: toBase64(data), mimeType }, block, doing);
}

/** Creates a block with a picture. @throws SurfaceError `INVALID_OPTION`. */
export function imageBlock(definition: MediaDefinition): ContentBlock {
  return toMedia("image", definition);
}

/** Creates a block with a sound. @throws SurfaceError `INVALID_OPTION`. */
export function audioBlock(definition: MediaDefinition): ContentBlock {
  return toMedia("audio", definition);
}

/** Creates a block with a whole resource, of this server or any other. @throws SurfaceError `INVALID_OPTION`. */
export function resourceBlock(definition: EmbeddedDefinition): ContentBlock {
  const doing = "Cannot make a resource block";
  const { annotations, meta, text: held, bytes, ...resource } = pickOptions(definition, resourceFields, doing);
  if (held === undefined && bytes === undefined) throw invalidOption(doing, 'it must have "text" or "bytes"');
  const body = bytes === undefined ? { text: held ?? "" } : { blob: toBase64(bytes) };
  return toBlock({ type: "resource", resource: { ...resource, ...body } }, { annotations, meta }, doing);
}

/** Creates a block that links a resource. @throws SurfaceError `INVALID_OPTION`. */
export function linkBlock(definition: LinkDefinition): ContentBlock {
  const doing = "Cannot make a link block";
  const { annotations, meta, icons, ...link } = pickOptions(definition, linkFields, doing);
  const copies = icons && { icons: icons.map((icon) => ({ ...icon })) };
  // Fields that were checked: texts, numbers and icons.
  const json = { type: "resource_link", ...link, ...copies } as JsonObject;
  return toBlock(json, { annotations, meta }, doing);
}

/** Returns the JSON of a block, or of a text as a block; `undefined` for another value. */
export function blockJson(value: unknown): JsonObject | undefined {
  if (typeof value === "string") return { type: "text", text: value };
  if (!isObject(value) || !(kBlock in value)) return undefined;
  // Only toBlock() writes under the symbol.
  return value[kBlock] as JsonObject;
}

const contentFields: OptionFields<ContentOptions> = { structured: unchecked, isError: flag };

/**
 * Creates rich content, the result of a hand-written tool: blocks of text, pictures, sounds and resources, in this order.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 * @example
 * ```ts
 * content(["The queue of the last hour", imageBlock({ data: png, mimeType: "image/png" })]);
 * ```
 */
export function content(blocks: readonly (ContentBlock | string)[], options: ContentOptions = {}): Content {
  const doing = "Cannot make content";
  if (!Array.isArray(blocks) || blocks.length > maxBlocks) {
    throw invalidOption(doing, `its blocks must be a list of at most ${maxBlocks}`);
  }
  const json = blocks.map((block, index) => {
    const one = blockJson(block);
    if (one !== undefined) return one;
    throw invalidOption(doing, `block ${index} must be a text, or the result of textBlock(), imageBlock() and so on`);
  });
  const { structured, isError = false } = pickOptions(options, contentFields, doing);
  const made = { blocks: Object.freeze(json), structured, ...(isError && { isError }) };
  return Object.freeze({ [kContent]: Object.freeze(made) });
}

/** Returns whether {@link content} has created a value, or a value looks the same. Never throws. */
export function isContent(value: unknown): value is Content {
  try {
    if (!isObject(value) || !(kContent in value)) return false;
    const made = value[kContent];
    return isObject(made) && "blocks" in made && Array.isArray(made.blocks) && made.blocks.every(isObject);
  } catch {
    // A trap of the value.
    return false;
  }
}

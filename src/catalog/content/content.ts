import { SurfaceError } from "../../errors.ts";
import { pickOptions } from "../../options/read-options.ts";
import type { JsonObject } from "../../schema/json.ts";
import { isMimeType, keepLooks, lookFields, type Icon } from "../../tags/looks.ts";
import { isObject } from "../../options/is-object.ts";

/** Where a block keeps its JSON. Registered globally, so that two copies of this package take each other's. */
export const kBlock: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.content-block");

/** Where rich contents are kept, and by which they are known. */
export const kContent: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.content");

/** One piece of a rich answer, made by {@link textBlock} and its like. It does not travel as JSON by itself. */
export interface ContentBlock {
  readonly [kBlock]: JsonObject;
}

/** A rich answer, made by {@link content}. */
export interface Content {
  readonly [kContent]: {
    readonly blocks: readonly JsonObject[];
    readonly structured: unknown;
    /** Left out: it does not say that anything has failed. */
    readonly isError?: true;
  };
}

/** What may be said beside the blocks of a rich answer. */
export interface ContentOptions {
  /** Says the same to programs: it has to fit the tool's `output` where there is one. */
  readonly structured?: unknown;
  /** Says that what was asked for has failed, in the author's words. Default `false`. */
  readonly isError?: boolean;
}

/** For whom a block is, how much it matters, and how old it is. */
export interface BlockAnnotations {
  readonly audience?: readonly ("user" | "assistant")[];
  /** From 0, the least, to 1. */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** What may be said of any block. */
export interface BlockOptions {
  readonly annotations?: BlockAnnotations;
  /** Passed on as the block's `_meta`. */
  readonly meta?: JsonObject;
}

/** Bytes, as they are or in base64. */
export type BlockBytes = Uint8Array | string;

/** What an image or a sound is made of. */
export interface MediaDefinition extends BlockOptions {
  readonly data: BlockBytes;
  readonly mimeType: string;
}

/** A resource that is handed over whole: its text, or its bytes. */
export type EmbeddedDefinition = BlockOptions & { readonly uri: string; readonly mimeType?: string } & (
    | { readonly text: string; readonly bytes?: never }
    | { readonly bytes: BlockBytes; readonly text?: never }
  );

/** A resource that the reader may fetch: one of this server's, or anything that has a URI. */
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
const roles: ReadonlySet<unknown> = new Set(["user", "assistant"]);

function refuse(what: string, must: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `Making ${what}: ${must}`);
}

function assertText(value: unknown, what: string, name: string): asserts value is string {
  if (typeof value !== "string") throw refuse(what, `"${name}" must be text`);
}

function assertMimeType(value: unknown, what: string, family = ""): void {
  if (isMimeType(value) && value.toLowerCase().startsWith(family)) return;
  throw refuse(what, `"mimeType" must be a type and a subtype, like "${family === "" ? "text/plain" : `${family}…`}"`);
}

/** Refuses what is no absolute URI. @throws SurfaceError `INVALID_OPTION`. */
function assertUri(value: unknown, what: string): void {
  if (typeof value === "string" && value.length <= maxUriLength && uriPattern.test(value)) return;
  throw refuse(what, `"uri" must be an absolute URI`);
}

/** Bytes in base64. @throws SurfaceError `INVALID_OPTION` for a text that is not base64. */
export function toBase64(bytes: unknown, what: string): string {
  if (bytes instanceof Uint8Array) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  }
  if (typeof bytes === "string" && bytes.length % 4 === 0 && base64.test(bytes)) return bytes;
  throw refuse(what, "its bytes must be a Uint8Array, or a text in base64");
}

function isPriority(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function isDate(value: unknown): boolean {
  return typeof value === "string" && datePattern.test(value);
}

function areRoles(value: unknown): boolean {
  return Array.isArray(value) && value.every((role) => roles.has(role));
}

function toAnnotations(given: BlockAnnotations, what: string): JsonObject {
  const { audience, priority, lastModified } = given;
  const fits =
    (audience === undefined || areRoles(audience)) &&
    (priority === undefined || isPriority(priority)) &&
    (lastModified === undefined || isDate(lastModified));
  if (!fits) {
    throw refuse(
      what,
      '"annotations" may say an "audience" of "user" and "assistant", a "priority" from 0 to 1 and an ISO 8601 "lastModified"',
    );
  }
  return {
    ...(audience === undefined ? {} : { audience: [...audience] }),
    ...(priority === undefined ? {} : { priority }),
    ...(lastModified === undefined ? {} : { lastModified }),
  };
}

function toBlock(json: JsonObject, { annotations, meta }: BlockOptions, what: string): ContentBlock {
  pickOptions({ meta }, lookFields, what);
  return Object.freeze({
    [kBlock]: Object.freeze({
      ...json,
      ...(annotations === undefined ? {} : { annotations: toAnnotations(annotations, what) }),
      ...(meta === undefined ? {} : { _meta: keepLooks({ meta }).meta }),
    }),
  });
}

/** A piece of text. @throws SurfaceError `INVALID_OPTION`, as do all that make blocks. */
export function textBlock(text: string, options: BlockOptions = {}): ContentBlock {
  assertText(text, "a text block", "text");
  return toBlock({ type: "text", text }, options, "a text block");
}

function toMedia(type: "image" | "audio", definition: MediaDefinition): ContentBlock {
  const what = `an ${type} block`;
  const { data, mimeType } = definition;
  assertMimeType(mimeType, what, `${type}/`);
  return toBlock({ type, data: toBase64(data, what), mimeType }, definition, what);
}

/** A picture. @throws SurfaceError `INVALID_OPTION`. */
export function imageBlock(definition: MediaDefinition): ContentBlock {
  return toMedia("image", definition);
}

/** A sound. @throws SurfaceError `INVALID_OPTION`. */
export function audioBlock(definition: MediaDefinition): ContentBlock {
  return toMedia("audio", definition);
}

/** A resource, whole. Its URI may be one of this server's, or any other. @throws SurfaceError `INVALID_OPTION`. */
export function resourceBlock(definition: EmbeddedDefinition): ContentBlock {
  const what = "a resource block";
  const { uri, mimeType, text, bytes } = definition;
  assertUri(uri, what);
  if (mimeType !== undefined) assertMimeType(mimeType, what);
  if (bytes === undefined) assertText(text, what, "text");
  const held: JsonObject = bytes === undefined ? { text: text ?? "" } : { blob: toBase64(bytes, what) };
  const resource = { uri, ...(mimeType === undefined ? {} : { mimeType }), ...held };
  return toBlock({ type: "resource", resource }, definition, what);
}

/** Names a resource to fetch where it is wanted. @throws SurfaceError `INVALID_OPTION`. */
export function linkBlock(definition: LinkDefinition): ContentBlock {
  const what = "a link block";
  const { uri, name, title, description, mimeType, size, icons } = definition;
  assertUri(uri, what);
  assertText(name, what, "name");
  if (title !== undefined) assertText(title, what, "title");
  if (description !== undefined) assertText(description, what, "description");
  if (mimeType !== undefined) assertMimeType(mimeType, what);
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0)) throw refuse(what, '"size" must be in bytes');
  pickOptions({ icons }, lookFields, what);
  const said = { title, description, mimeType, size, icons: icons?.map((icon) => ({ ...icon })) };
  const words = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  // What is left of them is text, numbers and icons.
  return toBlock({ type: "resource_link", uri, name, ...(words as JsonObject) }, definition, what);
}

/** The JSON of a block, or of a text; `undefined` for anything else. */
export function blockJson(value: unknown): JsonObject | undefined {
  if (typeof value === "string") return { type: "text", text: value };
  if (typeof value !== "object" || value === null || !(kBlock in value)) return undefined;
  // Nobody else writes under the symbol.
  return value[kBlock] as JsonObject;
}

/**
 * A rich answer of a bespoke tool: blocks of text, pictures, sounds and resources, in this order.
 *
 * @throws SurfaceError `INVALID_OPTION` for what is no block.
 * @example
 * ```ts
 * content(["The queue of the last hour", imageBlock({ data: png, mimeType: "image/png" })]);
 * ```
 */
export function content(blocks: readonly (ContentBlock | string)[], options: ContentOptions = {}): Content {
  if (!Array.isArray(blocks) || blocks.length > maxBlocks) {
    throw refuse("content", `its blocks must be a list of at most ${maxBlocks}`);
  }
  const made = blocks.map((block, index) => {
    const json = blockJson(block);
    if (json !== undefined) return json;
    throw refuse("content", `block ${index} must be a text, or made by textBlock() or its like`);
  });
  const { structured, isError = false } = options;
  if (typeof isError !== "boolean") throw refuse("content", '"isError" must be true or false');
  const said = { blocks: Object.freeze(made), structured, ...(isError ? { isError } : {}) };
  return Object.freeze({ [kContent]: Object.freeze(said) });
}

/** Whether a value was made by {@link content}, or cannot be told from one that was. Never throws. */
export function isContent(value: unknown): value is Content {
  try {
    if (!isObject(value) || !(kContent in value)) return false;
    const made = value[kContent];
    return isObject(made) && "blocks" in made && Array.isArray(made.blocks) && made.blocks.every(isObject);
  } catch {
    // A trap of what was returned.
    return false;
  }
}

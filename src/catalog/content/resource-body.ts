import { required, text, type OptionFields } from "../../options/option.ts";
import { invalidOption, readOptions } from "../../options/read-options.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { freezeDisplayMetadata, metaObject, mimeTypeOption } from "../../tags/display-metadata.ts";
import type { ResourceBody, ResourceContent } from "../entry.ts";
import { blockBytes, toBase64, type BlockBytes } from "./content.ts";

/** The MIME type of JSON. */
export const jsonMimeType = "application/json";

/** Returns the text of a content; `undefined` for bytes. */
export function contentText(content: ResourceContent): string | undefined {
  return typeof content === "string" ? content : content.text;
}

/** Returns a text that identifies a content. */
export function toDistinctText(content: ResourceContent): string {
  if (typeof content === "string") return `text ${content}`;
  return `body ${JSON.stringify([content.mimeType, content.text ?? null, content.blob ?? null, content.meta ?? null])}`;
}

/** Returns whether two reads have returned the same content. */
export function isSameContent(left: ResourceContent | undefined, right: ResourceContent | undefined): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  return toDistinctText(left) === toDistinctText(right);
}

/** The key of a body. Registered globally, so that two copies of this package accept each other's bodies. */
const kBody: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.resource-body");

/** The content of a resource with a MIME type, created by {@link body}. */
export interface Body {
  readonly [kBody]: ResourceBody;
}

/** Options of {@link body}: a text or bytes. */
export type BodyDefinition = {
  readonly mimeType: string;
  /** The `_meta` of the content. */
  readonly meta?: JsonObject;
} & ({ readonly text: string; readonly bytes?: never } | { readonly bytes: BlockBytes; readonly text?: never });

const fields: OptionFields<BodyDefinition> = {
  mimeType: required(mimeTypeOption),
  meta: metaObject,
  text,
  bytes: blockBytes,
};

/**
 * Creates the result of `read` of a hand-written resource, for a text or bytes with a MIME type.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 * @example
 * ```ts
 * body({ mimeType: "image/png", bytes: png });
 * ```
 */
export function body(definition: BodyDefinition): Body {
  const given = readOptions(definition, fields, "Cannot make a body");
  if (given.bytes === undefined && given.text === undefined) {
    throw invalidOption("Cannot make a body", 'it must have "text" or "bytes"');
  }
  const held = given.bytes === undefined ? { text: given.text ?? "" } : { blob: toBase64(given.bytes) };
  const looks = given.meta === undefined ? {} : freezeDisplayMetadata({ meta: given.meta });
  return Object.freeze({ [kBody]: Object.freeze({ mimeType: given.mimeType, ...held, ...looks }) });
}

/** Returns JSON for a source that has encoded a value itself: the catalog does not walk it again. */
export function jsonBody(json: JsonValue): { readonly [kBody]: string } {
  return { [kBody]: JSON.stringify(json) };
}

function bodyOf(value: unknown): ResourceContent | undefined {
  if (typeof value !== "object" || value === null || !(kBody in value)) return undefined;
  // Only body() and jsonBody() write under the symbol.
  return value[kBody] as ResourceContent;
}

/**
 * Returns the content for a result of `read`. With a MIME type other than JSON, a text and bytes stay as they are; other values are
 * written as JSON.
 *
 * @throws SurfaceError `UNSERIALISABLE`.
 */
export function toResourceContent(value: unknown, mimeType: string | undefined): ResourceContent | undefined {
  if (value === undefined) return undefined;
  const made = bodyOf(value);
  if (made !== undefined) return made;
  if (mimeType === undefined || mimeType === jsonMimeType) return anyCodec.stringify(value);
  if (typeof value === "string") return { mimeType, text: value };
  if (value instanceof Uint8Array) return { mimeType, blob: toBase64(value) };
  return { mimeType, text: anyCodec.stringify(value) };
}

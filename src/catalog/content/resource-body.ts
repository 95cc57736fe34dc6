import type { ResourceBody, ResourceContent } from "../entry.ts";
import { unchecked, required, text, type OptionFields } from "../../options/option.ts";
import { invalidOption, readOptions } from "../../options/read-options.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { keepLooks, metaObject, mimeTypeOption } from "../../tags/looks.ts";
import { toBase64, type BlockBytes } from "./content.ts";

/** What JSON is called where types of content are named. */
export const jsonMimeType = "application/json";

/** The text of what a resource holds; `undefined` where that is bytes. */
export function textOf(content: ResourceContent): string | undefined {
  return typeof content === "string" ? content : content.text;
}

/** A text for each content; no two that differ share one. JSON text begins with none of the words of a body. */
export function toDistinctText(content: ResourceContent): string {
  if (typeof content === "string") return `text ${content}`;
  return `body ${JSON.stringify([content.mimeType, content.text ?? null, content.blob ?? null, content.meta ?? null])}`;
}

/** Whether two reads have found the same. */
export function isSameContent(left: ResourceContent | undefined, right: ResourceContent | undefined): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  return toDistinctText(left) === toDistinctText(right);
}

/** Where a body is kept, and by which it is known. Registered globally, as are the marks of rich contents. */
const kBody: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.resource-body");

/** What a resource holds, where that is not JSON or there is more to say of it; made by {@link body}. */
export interface Body {
  readonly [kBody]: ResourceBody;
}

/** What {@link body} takes: a text or bytes. */
export type BodyDefinition = {
  readonly mimeType: string;
  /** Said beside it as `_meta`. */
  readonly meta?: JsonObject;
} & ({ readonly text: string; readonly bytes?: never } | { readonly bytes: BlockBytes; readonly text?: never });

const fields: OptionFields<BodyDefinition> = {
  mimeType: required(mimeTypeOption),
  meta: metaObject,
  text,
  // toBase64() refuses what holds no bytes.
  bytes: unchecked,
};

/**
 * What `read` of a hand-written resource returns for a text or bytes of a type of their own.
 *
 * @throws SurfaceError `INVALID_OPTION` for a type that is none, and bytes that are neither a `Uint8Array` nor base64.
 * @example
 * ```ts
 * body({ mimeType: "image/png", bytes: png });
 * ```
 */
export function body(definition: BodyDefinition): Body {
  const given = readOptions(definition, fields, "Making a body");
  if (given.bytes === undefined && given.text === undefined) {
    throw invalidOption("Making a body", 'it must have "text" or "bytes"');
  }
  const held = given.bytes === undefined ? { text: given.text ?? "" } : { blob: toBase64(given.bytes, "a body") };
  const looks = given.meta === undefined ? {} : keepLooks({ meta: given.meta });
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
 * What `read` returned -> what the resource holds. Of a type that is not JSON, a text is the text, and bytes are the
 * bytes; everything else is written as JSON.
 *
 * @throws SurfaceError `UNSERIALISABLE`.
 */
export function toResourceContent(value: unknown, mimeType: string | undefined): ResourceContent | undefined {
  if (value === undefined) return undefined;
  const made = bodyOf(value);
  if (made !== undefined) return made;
  if (mimeType === undefined || mimeType === jsonMimeType) return anyCodec.stringify(value);
  if (typeof value === "string") return { mimeType, text: value };
  if (value instanceof Uint8Array) return { mimeType, blob: toBase64(value, "a body") };
  return { mimeType, text: anyCodec.stringify(value) };
}

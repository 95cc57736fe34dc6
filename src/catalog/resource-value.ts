import type { CompiledSchema } from "../schema/compile-schema.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { Stale } from "../surface/reading.ts";
import type { ResourceContent } from "./entry.ts";
import { jsonMimeType } from "./resource-content.ts";

// JSON.stringify of { value: x } is this, the text of x, and a brace.
const wrapPrefix = '{"value":';

/**
 * The JSON text of a value by itself, also where its schema would wrap it to make a tool's answer an object. A value
 * that is undefined is null: a resource has to say something.
 */
export function stringifyBare(schema: CompiledSchema, value: unknown): string {
  const text = schema.codec.stringify(value);
  if (!schema.wrapped) return text;
  return value === undefined ? "null" : text.slice(wrapPrefix.length, -1);
}

/** The JSON form of a value by itself. */
export function encodeBare(schema: CompiledSchema, value: unknown): JsonValue {
  const json = schema.codec.encode(value);
  return schema.wrapped && isJsonObject(json) ? (json["value"] ?? null) : json;
}

/** The JSON Schema of a value by itself. */
export function bareSchema(schema: CompiledSchema): JsonSchema {
  const properties = schema.json["properties"];
  if (!schema.wrapped || !isJsonObject(properties)) return schema.json;
  const value = properties["value"];
  return isJsonObject(value) ? value : {};
}

/** Under which key of `_meta` the contents of a resource say that they are not known to be the newest. */
export const staleMetaKey = "surface-mcp/stale";

/** Writes what a channel carries: a value as `render` does, and of a stale one besides why and since when. */
export function renderCarried<TValue>(
  carried: unknown,
  render: (value: TValue) => string | undefined,
): ResourceContent | undefined {
  const value = carried instanceof Stale ? carried.value : carried;
  // The verb was asked of a member of this kind: a channel answers it with such a value, or with a stale one.
  const text = render(value as TValue);
  if (text === undefined || !(carried instanceof Stale)) return text;
  const { reason, since } = carried.staleness;
  return { mimeType: jsonMimeType, text, meta: { [staleMetaKey]: { reason, since } } };
}

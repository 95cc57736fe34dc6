import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";

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

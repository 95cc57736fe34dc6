/** What travels on the wire: the JSON value types, and JSON Schema as data. */
import type { JsonObject, JsonValue } from "type-fest";

export type { JsonObject, JsonValue };

/** A JSON Schema (dialect 2020-12) as plain data: keywords and their JSON values. The package never mutates one. */
export type JsonSchema = Readonly<Record<string, JsonValue>>;

/** Tells whether a JSON value is an object, and neither an array nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** The JSON text of a value with the keys of every object in one order: equal values have equal texts. */
export function canonicalText(json: JsonValue): string {
  return JSON.stringify(json, (_, value: unknown) => (isJsonObject(value) ? sortKeys(value) : value));
}

function sortKeys(object: JsonObject): JsonObject {
  const entries = Object.entries(object);
  // Object.fromEntries defines, so that `__proto__` stays a key.
  return Object.fromEntries(entries.toSorted(([first], [second]) => (first < second ? -1 : 1)));
}

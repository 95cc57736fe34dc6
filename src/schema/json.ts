/** JSON values. */
import type { JsonObject, JsonValue } from "type-fest";

export type { JsonObject, JsonValue };

/** A JSON Schema (dialect 2020-12) as plain data: keywords and their JSON values. The package never mutates one. */
export type JsonSchema = Readonly<Record<string, JsonValue>>;

/** Levels of a value that are written, read or validated. */
export const maxLevels = 512;

/** Tells whether a JSON value is an object, and neither an array nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells a plain object (also one of another realm, or without a prototype) from an instance of a class. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== "object" || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && !Array.isArray(prototype);
}

/**
 * Writes an own property, also for the key `__proto__`, which plain assignment would send to the prototype. Keys come
 * off the wire, so every object that is built from one is built with this.
 */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  // The key is not `__proto__`, so this defines or replaces an own property.
  (target as Record<string, unknown>)[key] = value;
}

/** The JSON text of a value with the keys of every object in one order: equal values have equal texts. */
export function canonicalText(json: JsonValue): string {
  return JSON.stringify(json, (_, value: unknown) => (isJsonObject(value) ? sortKeys(value) : value));
}

function sortKeys(object: JsonObject): JsonObject {
  const entries = Object.entries(object);
  // Object.fromEntries defines, so that `__proto__` stays a key.
  return Object.fromEntries(entries.toSorted(([first], [second]) => (first < second ? -1 : 1)));
}

/** Freezes JSON data all the way down and returns it. */
export function deepFreeze(json: JsonObject): JsonObject {
  const queue: JsonValue[] = [json];
  for (const value of queue) {
    if (typeof value !== "object" || value === null) continue;
    Object.freeze(value);
    queue.push(...Object.values(value).filter((item) => item !== undefined));
  }
  return json;
}

/** Returns whether JSON data is frozen all the way down. */
export function isDeepFrozen(data: unknown): boolean {
  if (typeof data !== "object" || data === null) return true;
  return Object.isFrozen(data) && Object.values(data).every(isDeepFrozen);
}

/** Returns the JSON type of a value. A whole number is a "number". */
export function jsonTypeOf(json: JsonValue): string {
  if (json === null) return "null";
  return Array.isArray(json) ? "array" : typeof json;
}

/** Returns a value that is an array, or an empty array. */
export function toList(value: JsonValue | undefined): readonly JsonValue[];
export function toList(value: unknown): readonly unknown[];
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** JSON values. */
import type { JsonObject, JsonValue } from "type-fest";
import { isObject } from "../options/is-object.ts";

export type { JsonObject, JsonValue };

/** A JSON Schema (dialect 2020-12) as plain data: keywords and their JSON values. The package never mutates one. */
export type JsonSchema = Readonly<Record<string, JsonValue>>;

/** The number of levels of a value that are written, read or validated. */
export const maxLevels = 512;

/** Tells whether a JSON value is an object, and neither an array nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells whether an object is plain (also one of another realm, or without a prototype), and not an instance of a class. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== "object" || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && !Array.isArray(prototype);
}

/**
 * Writes an own property, also for the key `__proto__`, for which an assignment would set the prototype. Use it for every key that
 * comes off the wire.
 */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  // The key is not `__proto__`, so this defines or replaces an own property.
  (target as Record<string, unknown>)[key] = value;
}

/** Returns an own property. Use it for keys off the wire: `constructor` is a property of every object. */
export function getOwn<TValue>(record: Readonly<Record<string, TValue>>, key: string): TValue | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Returns the JSON text of a value with the keys of every object in one order: equal values have equal texts. */
export function canonicalText(json: JsonValue): string {
  return JSON.stringify(json, (_, value: unknown) => (isJsonObject(value) ? sortKeys(value) : value));
}

/** Orders values by their canonical texts. */
export function compareJson(first: JsonValue, second: JsonValue): number {
  return canonicalText(first) < canonicalText(second) ? -1 : 1;
}

function sortKeys(object: JsonObject): JsonObject {
  const entries = Object.entries(object);
  // Object.fromEntries defines, so that `__proto__` stays a key.
  return Object.fromEntries(entries.toSorted(([first], [second]) => (first < second ? -1 : 1)));
}

/** Returns the value of a JSON text; `undefined` for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the object of a JSON text; an empty one for any other text. */
export function parseObject(text: string): JsonObject {
  const read = parseJson(text);
  return isJsonObject(read) ? read : {};
}

/** Freezes JSON data at every level and returns it. */
export function deepFreeze(json: JsonObject): JsonObject {
  const queue: object[] = [json];
  for (const value of queue) {
    Object.freeze(value);
    for (const item of Object.values(value)) if (isObject(item)) queue.push(item);
  }
  return json;
}

/** Tells whether JSON data is frozen at every level. */
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

const typeTests: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map<string, (value: unknown) => boolean>([
  ["string", (value) => typeof value === "string"],
  // JSON.parse reads 1e999 as Infinity.
  ["number", (value) => Number.isFinite(value)],
  ["integer", (value) => Number.isInteger(value)],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["array", (value) => Array.isArray(value)],
  ["object", isJsonObject],
]);

/** Tells whether a name is a type of JSON Schema. */
export function isStandardType(name: unknown): name is string {
  return typeTests.has(name);
}

/** Tells whether a value is of a type of JSON Schema. */
export function isOfType(value: unknown, type: unknown): boolean {
  return typeTests.get(type)?.(value) ?? false;
}

/** Creates the test for values of at least one of some types. */
export function createTypeTest(types: readonly unknown[]): (value: unknown) => boolean {
  const tests = types.map((type) => typeTests.get(type) ?? (() => false));
  const [only] = tests;
  return only !== undefined && tests.length === 1 ? only : (value) => tests.some((test) => test(value));
}

import type { JsonValue } from "./json.ts";
import { setOwn } from "./set-own.ts";
import { enter, unserialisable } from "./walk-path.ts";
import type { WalkPath } from "./walk-path.ts";

/**
 * Writes a value that no schema describes: JSON values and dates pass, `toJSON` is honoured, undefined properties are
 * dropped. Parts that are JSON already are shared with the input and not copied.
 *
 * Errors: `UNSERIALISABLE`, naming the path, for everything that JSON would drop or change silently: Map, Set, bigint,
 * NaN, invalid dates, functions, symbols, undefined in an array, cycles, instances of a class without `toJSON`.
 */
export function encodeAny(value: unknown, path: WalkPath): JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw unserialisable(path, String(value));
      return value;
    case "object":
      return value === null ? null : encodeObject(value, path);
    default:
      throw unserialisable(path, typeof value === "undefined" ? "undefined" : `a ${typeof value}`);
  }
}

/** Writes a date. Errors: `UNSERIALISABLE` when it is invalid. */
export function encodeDate(value: Date, path: WalkPath): string {
  if (Number.isNaN(value.getTime())) throw unserialisable(path, "an invalid Date");
  return value.toISOString();
}

/** Writes each item with `encodeItem`; returns the array itself when no item changes. */
export function encodeItems(
  items: readonly unknown[],
  path: WalkPath,
  encodeItem: (item: unknown, index: number) => JsonValue,
): JsonValue {
  enter(path, items);
  let copy: JsonValue[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    path.keys.push(index);
    const wire = encodeItem(item, index);
    path.keys.pop();
    // Every item before the first change came back as itself, so it is JSON.
    if (wire !== item) copy ??= items.slice() as JsonValue[];
    if (copy !== undefined) copy[index] = wire;
  }
  path.ancestors.pop();
  // No item changed, so every item is JSON.
  return copy ?? (items as readonly JsonValue[]);
}

/** Writes each own property with `encodeProperty`; returns the object itself when nothing changes. */
export function encodeProperties(
  value: object,
  path: WalkPath,
  encodeProperty: (item: unknown, key: string) => JsonValue,
): JsonValue {
  enter(path, value);
  let copy: Record<string, unknown> | undefined;
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) {
      copy ??= { ...value };
      delete copy[key];
      continue;
    }
    path.keys.push(key);
    const wire = encodeProperty(item, key);
    path.keys.pop();
    if (wire === item) continue;
    copy ??= { ...value };
    setOwn(copy, key, wire);
  }
  path.ancestors.pop();
  // What did not change is JSON, what did was replaced by JSON.
  return (copy ?? value) as JsonValue;
}

/** Tells a plain object (also one of another realm, or without a prototype) from an instance of a class. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== "object" || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && !Array.isArray(prototype);
}

function encodeObject(value: object, path: WalkPath): JsonValue {
  if (value instanceof Date) return encodeDate(value, path);
  if (Array.isArray(value)) return encodeItems(value, path, (item) => encodeAny(item, path));
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return path.encodeInstance?.(value, path) ?? encodeToJson(value, path);
  }
  if (isPlainObject(value)) return encodeProperties(value, path, (item) => encodeAny(item, path));
  const json = path.encodeInstance?.(value, path);
  if (json === undefined) throw unserialisable(path, `an instance of ${className(value)}`);
  return json;
}

function encodeToJson(value: object, path: WalkPath): JsonValue {
  enter(path, value);
  // encodeObject has just seen that it is a function.
  const json: unknown = (value as { toJSON(key: string): unknown }).toJSON(String(path.keys.at(-1) ?? ""));
  const wire = encodeAny(json, path);
  path.ancestors.pop();
  return wire;
}

function className(value: object): string {
  const { constructor } = value;
  return typeof constructor === "function" && constructor.name !== "" ? constructor.name : "a class";
}

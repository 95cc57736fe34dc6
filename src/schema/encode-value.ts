import { SurfaceError } from "../errors.ts";
import { clipText } from "./visible-text.ts";
import { isPlainObject, maxLevels, setOwn } from "./json.ts";
import type { JsonValue } from "./json.ts";
import { fromBigint } from "./wire-forms.ts";
import { fitLevels, fitsPlan, planOfItem, planOfProperty } from "./wire-plan.ts";
import type { RecordPlan, WirePlan } from "./wire-plan.ts";

const maxPathBytes = 128;

/** Writes an instance of a class as JSON; `undefined` refuses it. */
export type EncodeInstance = (value: object, path: WalkPath) => JsonValue | undefined;

/** The position of an encoding walk: errors name it, and it ends the walk in a cycle. */
export interface WalkPath {
  readonly keys: (string | number)[];
  readonly ancestors: object[];
  /** Called before `toJSON` of an instance. @default refuses instances without `toJSON` */
  readonly encodeInstance: EncodeInstance | undefined;
}

/** Starts a walk. */
export function createWalkPath(encodeInstance?: EncodeInstance): WalkPath {
  return { keys: [], ancestors: [], encodeInstance };
}

/** Enters a container; the caller pops `ancestors` when it leaves. @throws SurfaceError for a cycle, or for more than 512 levels. */
function enter(path: WalkPath, container: object): void {
  const { ancestors } = path;
  if (ancestors.includes(container)) throw unserialisable(path, "a cycle");
  if (ancestors.length > maxLevels) throw unserialisable(path, `more than ${maxLevels} levels deep`);
  ancestors.push(container);
}

/** Creates the error for the current position. */
function unserialisable(path: WalkPath, found: string): SurfaceError {
  const where = path.keys.length === 0 ? "(root)" : clipText(path.keys.join("."), maxPathBytes);
  return new SurfaceError("UNSERIALISABLE", `cannot write "${where}" as JSON: found ${found}, need a JSON value`);
}

/**
 * Writes a value without a schema: JSON values and dates pass, `toJSON` is called, undefined properties are dropped. Parts that are
 * JSON already are shared with the input and not copied.
 *
 * @throws SurfaceError `UNSERIALISABLE`, naming the path, for values that JSON would drop or change silently: Map, Set, bigint,
 *   NaN, invalid dates, functions, symbols, undefined in an array, cycles, instances of a class without `toJSON`.
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

/** Writes each item with `encodeItem`; returns the array itself when no item changes. */
function encodeItems(
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
function encodeProperties(
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

function encodeDate(value: Date, path: WalkPath): string {
  if (Number.isNaN(value.getTime())) throw unserialisable(path, "an invalid Date");
  return value.toISOString();
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

/** Writes a validated value along a plan; by {@link encodeAny} where it does not look like the plan. @throws as that. */
export function encodePlanned(plan: WirePlan, value: unknown, path: WalkPath): JsonValue {
  // Without a wire form below, the plan does not matter, above all its patterns, which may come from a foreign schema.
  if (!plan.coded) return encodeAny(value, path);
  switch (plan.kind) {
    case "union": {
      const arm = plan.arms.find((candidate) => fitsPlan(candidate, value, { side: "memory", levels: fitLevels }));
      return arm === undefined ? encodeAny(value, path) : encodePlanned(arm, value, path);
    }
    case "bigint":
      return typeof value === "bigint" ? encodeBigint(value, path) : encodeAny(value, path);
    case "record":
      return encodeRecord(plan, value, path);
    case "list":
      if (!Array.isArray(value)) return encodeAny(value, path);
      return encodeItems(value, path, (item, index) => encodePlanned(planOfItem(plan, index), item, path));
    default:
      return encodeEntries(plan, value, path);
  }
}

function encodeBigint(value: bigint, path: WalkPath): string {
  const text = fromBigint(value);
  if (text === undefined) throw unserialisable(path, "a bigint of more than 4,096 digits");
  return text;
}

function encodeRecord(plan: RecordPlan, value: unknown, path: WalkPath): JsonValue {
  const isOpaque = typeof value !== "object" || value === null || Array.isArray(value) || !isPlainObject(value);
  if (isOpaque || ("toJSON" in value && typeof value.toJSON === "function")) return encodeAny(value, path);
  return encodeProperties(value, path, (item, key) => encodePlanned(planOfProperty(plan, key), item, path));
}

/** Writes a map or a set as an array, and any other value by {@link encodeAny}. */
function encodeEntries(plan: WirePlan, value: unknown, path: WalkPath): JsonValue {
  if (plan.kind === "set" && value instanceof Set) {
    return encodeCopy(value, path, (item) => encodePlanned(plan.item(), item, path));
  }
  if (plan.kind !== "map" || !(value instanceof Map)) return encodeAny(value, path);
  return encodeCopy(value, path, (entry) => {
    // An entry of a map is a pair.
    const [key, item] = entry as readonly [unknown, unknown];
    return [encodePlanned(plan.key(), key, path), encodePlanned(plan.value(), item, path)];
  });
}

function encodeCopy(
  value: Iterable<unknown> & object,
  path: WalkPath,
  encodeItem: (item: unknown) => JsonValue,
): JsonValue {
  enter(path, value);
  const items = encodeItems([...value], path, encodeItem);
  path.ancestors.pop();
  return items;
}

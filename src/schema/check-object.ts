import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { toPatternTest } from "./check-scalar.ts";
import { inOrder } from "./in-order.ts";
import { isSettled, isTooDeep, refuse, refused, refuseDepth } from "./receive-walk.ts";
import type { Check, CheckCompiler, ReceiveWalk } from "./receive-walk.ts";
import { setOwn } from "./set-own.ts";

/** Finds the check of a field; undefined when the field is not known. */
type FindCheck = (key: string, walk: ReceiveWalk) => Check | undefined;

/** Says what is wrong with an object as a whole. */
type ObjectRule = (object: JsonObject) => string | undefined;

/** What comes of a field that is not known. */
const dropped: unique symbol = Symbol("dropped");

const partKeywords = ["properties", "patternProperties", "additionalProperties"];

/** The checks of objects: fields first, since a field that is dropped counts for nothing. They let pass what is no object. */
export function createObjectChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const checks: Check[] = [];
  if (partKeywords.some((key) => node[key] !== undefined)) {
    const find = toFindCheck(node, compiler);
    checks.push((json, walk) => {
      if (!isJsonObject(json)) return json;
      return isTooDeep(walk) ? refuseDepth(walk) : checkFields(find, json, walk);
    });
  }
  const { required, propertyNames } = node;
  if (Array.isArray(required)) checks.push(requiredCheck(required.map(String)));
  if (propertyNames !== undefined) checks.push(namesCheck(compiler.later(propertyNames)));
  return [...checks, ...countRules(node).map(toCheck)];
}

function toFindCheck(node: JsonObject, compiler: CheckCompiler): FindCheck {
  const { properties, patternProperties, additionalProperties } = node;
  const own = new Map(partsOf(properties).map(([key, part]) => [key, compiler.later(part)]));
  const patterns = partsOf(patternProperties).map(([source, part]) => {
    return { test: toPatternTest(source, compiler.isExact), check: compiler.later(part) };
  });
  const rest = additionalProperties === false ? undefined : compiler.later(additionalProperties);
  if (patterns.length === 0) return (key) => own.get(key) ?? rest;
  // A field that is declared and matches patterns has to fit all of them.
  return (key, walk) => {
    const matching = patterns.filter(({ test }) => test(key, walk)).map(({ check }) => check);
    const declared = own.get(key);
    if (declared !== undefined) matching.push(declared);
    return matching.length === 0 ? rest : inOrder(matching);
  };
}

function partsOf(parts: JsonValue | undefined): [string, JsonValue | undefined][] {
  return Object.entries(isJsonObject(parts) ? parts : {});
}

function checkFields(find: FindCheck, object: JsonObject, walk: ReceiveWalk): ReturnType<Check> {
  let changes: Map<string, JsonValue | typeof dropped> | undefined;
  let isRefused = false;
  for (const key of Object.keys(object)) {
    // The object is JSON: no field of it is undefined.
    const item = object[key] as JsonValue;
    const check = find(key, walk);
    walk.path.push(key);
    const result = check === undefined ? drop(walk) : check(item, walk);
    walk.path.pop();
    if (result === item) continue;
    if (result === refused) isRefused = true;
    else (changes ??= new Map()).set(key, result);
    if (isRefused && isSettled(walk)) break;
  }
  if (isRefused) return refused;
  return changes === undefined ? object : withChanges(object, changes);
}

function drop(walk: ReceiveWalk): typeof refused | typeof dropped {
  if (walk.strict) return refuse(walk, "expected nothing");
  walk.dropped += 1;
  return dropped;
}

function withChanges(object: JsonObject, changes: ReadonlyMap<string, JsonValue | typeof dropped>): JsonObject {
  const copy: JsonObject = {};
  for (const [key, item] of Object.entries(object)) {
    const value = changes.get(key) ?? item;
    if (value !== dropped) setOwn(copy, key, value);
  }
  return copy;
}

function requiredCheck(required: readonly string[]): Check {
  return (json, walk) => {
    if (!isJsonObject(json)) return json;
    let isRefused = false;
    for (const key of required) {
      if (Object.hasOwn(json, key)) continue;
      refuseAt(walk, key, "expected a value, received nothing");
      isRefused = true;
    }
    return isRefused ? refused : json;
  };
}

function namesCheck(check: Check): Check {
  return (json, walk) => {
    if (!isJsonObject(json)) return json;
    let isRefused = false;
    for (const key of Object.keys(json)) {
      walk.path.push(key);
      if (check(key, walk) === refused) isRefused = true;
      walk.path.pop();
      if (isRefused && isSettled(walk)) break;
    }
    return isRefused ? refused : json;
  };
}

function countRules({ minProperties: min, maxProperties: max, dependentRequired }: JsonObject): ObjectRule[] {
  const rules: ObjectRule[] = [];
  if (typeof min === "number")
    rules.push((object) => (Object.keys(object).length < min ? `expected at least ${min} fields` : undefined));
  if (typeof max === "number")
    rules.push((object) => (Object.keys(object).length > max ? `expected at most ${max} fields` : undefined));
  for (const [key, needs] of Object.entries(isJsonObject(dependentRequired) ? dependentRequired : {})) {
    const names = Array.isArray(needs) ? needs.map(String) : [];
    rules.push((object) => {
      const missing = Object.hasOwn(object, key) ? names.find((name) => !Object.hasOwn(object, name)) : undefined;
      return missing === undefined ? undefined : `expected "${missing}" beside "${key}"`;
    });
  }
  return rules;
}

function toCheck(rule: ObjectRule): Check {
  return (json, walk) => {
    const problem = isJsonObject(json) ? rule(json) : undefined;
    return problem === undefined ? json : refuse(walk, problem);
  };
}

function refuseAt(walk: ReceiveWalk, key: string, message: string): typeof refused {
  walk.path.push(key);
  refuse(walk, message);
  walk.path.pop();
  return refused;
}

import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { inOrder } from "./in-order.ts";
import { checkPart, isSettled, refuse, refused } from "./receive-walk.ts";
import type { Check, CheckCompiler, ReceiveWalk } from "./receive-walk.ts";
import { setOwn } from "./set-own.ts";

interface Fields {
  readonly properties: ReadonlyMap<string, Check>;
  readonly patterns: readonly { readonly pattern: RegExp; readonly check: Check }[];
  /** The check of fields with no other; undefined when such fields are not known. */
  readonly rest: Check | undefined;
}

/** Says what is wrong with an object as a whole. */
type ObjectRule = (object: JsonObject) => string | undefined;

interface Field {
  readonly key: string;
  readonly item: JsonValue;
}

/** What comes of a field that is not known. */
const dropped: unique symbol = Symbol("dropped");

const partKeywords = ["properties", "patternProperties", "additionalProperties"];

/** The checks of objects: fields first, since a field that is dropped counts for nothing. They let pass what is no object. */
export function createObjectChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const checks: Check[] = [];
  if (partKeywords.some((key) => node[key] !== undefined)) {
    const fields = toFields(node, compiler);
    checks.push((json, walk) => (isJsonObject(json) ? checkFields(fields, json, walk) : json));
  }
  const { required, propertyNames } = node;
  if (Array.isArray(required)) checks.push(requiredCheck(required.map(String)));
  if (propertyNames !== undefined) checks.push(namesCheck(compiler.later(propertyNames)));
  return [...checks, ...countRules(node).map(toCheck)];
}

function toFields(node: JsonObject, compiler: CheckCompiler): Fields {
  const { properties, patternProperties, additionalProperties: rest } = node;
  const partsOf = (parts: JsonValue | undefined) => Object.entries(isJsonObject(parts) ? parts : {});
  return {
    properties: new Map(partsOf(properties).map(([key, part]) => [key, compiler.later(part)])),
    patterns: partsOf(patternProperties).map(([source, part]) => ({
      pattern: new RegExp(source, "u"),
      check: compiler.later(part),
    })),
    rest: rest === false ? undefined : compiler.later(rest),
  };
}

function checkFields(fields: Fields, object: JsonObject, walk: ReceiveWalk): ReturnType<Check> {
  const keys = Object.keys(object);
  let copy: Record<string, JsonValue> | undefined;
  let isRefused = false;
  for (const [index, key] of keys.entries()) {
    // The object is JSON: no field of it is undefined.
    const item = object[key] as JsonValue;
    const result = checkField(fields, { key, item }, walk);
    if (result === refused) {
      isRefused = true;
      if (isSettled(walk)) break;
      continue;
    }
    if (result !== item) copy ??= copyFields(object, keys.slice(0, index));
    if (copy !== undefined && result !== dropped) setOwn(copy, key, result);
  }
  return isRefused ? refused : (copy ?? object);
}

function checkField(fields: Fields, { key, item }: Field, walk: ReceiveWalk): ReturnType<Check> | typeof dropped {
  const own = fields.properties.get(key);
  const at = { walk, key };
  if (fields.patterns.length > 0) return checkByPatterns(fields, { key, item }, at);
  const check = own ?? fields.rest;
  return check === undefined ? drop(walk, key) : checkPart(check, item, at);
}

/** A field that is declared and matches patterns has to fit all of them. */
function checkByPatterns(fields: Fields, { key, item }: Field, at: { walk: ReceiveWalk; key: string }) {
  const own = fields.properties.get(key);
  const checks = fields.patterns.filter(({ pattern }) => pattern.test(key)).map(({ check }) => check);
  if (own !== undefined) checks.unshift(own);
  if (checks.length === 0 && fields.rest === undefined) return drop(at.walk, key);
  if (checks.length === 0 && fields.rest !== undefined) checks.push(fields.rest);
  return checkPart(inOrder(checks), item, at);
}

function drop(walk: ReceiveWalk, key: string): typeof refused | typeof dropped {
  if (walk.strict) return refuseAt(walk, key, "expected nothing");
  walk.dropped += 1;
  return dropped;
}

function copyFields(object: JsonObject, keys: readonly string[]): Record<string, JsonValue> {
  const copy: Record<string, JsonValue> = {};
  for (const key of keys) setOwn(copy, key, object[key]);
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
      if (checkPart(check, key, { walk, key }) === refused) isRefused = true;
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

import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { toPatternTest } from "./check-scalar.ts";
import { isSettled, isTooDeep, refuse } from "./receive-walk.ts";
import type { Check, CheckCompiler, ReceiveWalk } from "./receive-walk.ts";

/** Runs the checks of one field. */
type FieldCheck = (key: string, item: JsonValue, walk: ReceiveWalk) => boolean;

/** Returns the problem with an object as a whole. */
type ObjectRule = (object: JsonObject) => string | undefined;

const partKeywords = ["properties", "patternProperties", "additionalProperties"];
const refuseField: Check = (_, walk) => refuse(walk, "expected nothing");

/** The checks of objects. They accept any other value. */
export function createObjectChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const checks: Check[] = [];
  const { required, propertyNames } = node;
  if (partKeywords.some((key) => node[key] !== undefined)) checks.push(everyKey(toFieldCheck(node, compiler)));
  if (Array.isArray(required)) checks.push(requiredCheck(required.map(String)));
  if (propertyNames !== undefined) {
    const check = compiler.later(propertyNames);
    checks.push(everyKey((key, _, walk) => check(key, walk)));
  }
  return [...checks, ...countRules(node).map(toCheck)];
}

function toFieldCheck(node: JsonObject, compiler: CheckCompiler): FieldCheck {
  const { properties, patternProperties, additionalProperties } = node;
  const own = new Map(partsOf(properties).map(([key, part]) => [key, compiler.later(part)]));
  const patterns = partsOf(patternProperties).map(([source, part]) => {
    return { test: toPatternTest(source, compiler.isExact), check: compiler.later(part) };
  });
  const rest = additionalProperties === false ? refuseField : compiler.later(additionalProperties);
  if (patterns.length === 0) return (key, item, walk) => (own.get(key) ?? rest)(item, walk);
  // A field that is declared and matches patterns has to fit all of them.
  return (key, item, walk) => {
    const matching = patterns.filter(({ test }) => test(key, walk)).map(({ check }) => check);
    const declared = own.get(key);
    if (declared !== undefined) matching.push(declared);
    if (matching.length === 0) matching.push(rest);
    return matching.every((check) => check(item, walk));
  };
}

function partsOf(parts: JsonValue | undefined): [string, JsonValue | undefined][] {
  return Object.entries(isJsonObject(parts) ? parts : {});
}

function everyKey(check: FieldCheck): Check {
  return (json, walk) => {
    if (!isJsonObject(json)) return true;
    if (isTooDeep(walk)) return false;
    let fits = true;
    for (const key of Object.keys(json)) {
      // The object is JSON: no field of it is undefined.
      const item = json[key] as JsonValue;
      walk.path.push(key);
      if (!check(key, item, walk)) fits = false;
      walk.path.pop();
      if (!fits && isSettled(walk)) break;
    }
    return fits;
  };
}

function requiredCheck(required: readonly string[]): Check {
  return (json, walk) => {
    if (!isJsonObject(json)) return true;
    const missing = required.filter((key) => !Object.hasOwn(json, key));
    for (const key of missing) {
      walk.path.push(key);
      refuse(walk, "expected a value, received nothing");
      walk.path.pop();
    }
    return missing.length === 0;
  };
}

function countRules({ minProperties: min, maxProperties: max, dependentRequired }: JsonObject): ObjectRule[] {
  const rules: ObjectRule[] = [];
  if (typeof min === "number")
    rules.push((object) => (Object.keys(object).length < min ? `expected at least ${min} fields` : undefined));
  if (typeof max === "number")
    rules.push((object) => (Object.keys(object).length > max ? `expected at most ${max} fields` : undefined));
  for (const [key, needs] of partsOf(dependentRequired)) {
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
    return problem === undefined || refuse(walk, problem);
  };
}

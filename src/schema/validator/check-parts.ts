import { canonicalText, isJsonObject, toList } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { createPatternTest } from "./check-scalar.ts";
import { addIssue, fitsQuietly, isSettled, isTooDeep } from "./check-walk.ts";
import type { Check, CheckCompiler, CheckWalk } from "./check-walk.ts";

/** Runs the checks of one field. */
type FieldCheck = (key: string, item: JsonValue, walk: CheckWalk) => boolean;

const partKeywords = ["properties", "patternProperties", "additionalProperties"];
const refuseField: Check = (_, walk) => addIssue(walk, "expected nothing");

/** Creates the checks of arrays and tuples. They accept any other value. */
export function createArrayChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const { prefixItems, items, contains, uniqueItems, minItems, maxItems } = node;
  const checks: Check[] = [];
  if (Array.isArray(prefixItems) || items !== undefined) {
    const prefix = toList(prefixItems).map((item) => compiler.later(item));
    checks.push(everyItem(prefix, compiler.later(items)));
  }
  const countOf = (json: JsonValue): number => (Array.isArray(json) ? json.length : Number.NaN);
  checks.push(...countChecks(countOf, [minItems, maxItems], "items"));
  if (contains !== undefined) checks.push(containsCheck(node, compiler.later(contains)));
  if (uniqueItems === true) checks.push(checkUnique);
  return checks;
}

function everyItem(prefix: readonly Check[], rest: Check): Check {
  return (json, walk) => {
    if (!Array.isArray(json)) return true;
    if (isTooDeep(walk)) return false;
    let fits = true;
    for (let index = 0; index < json.length && (fits || !isSettled(walk)); index += 1) {
      // The array is JSON, so it has no holes.
      const item = json[index] as JsonValue;
      walk.path.push(index);
      if (!(prefix[index] ?? rest)(item, walk)) fits = false;
      walk.path.pop();
    }
    return fits;
  };
}

function containsCheck({ minContains, maxContains }: JsonObject, check: Check): Check {
  const min = typeof minContains === "number" ? minContains : 1;
  const max = typeof maxContains === "number" ? maxContains : Number.POSITIVE_INFINITY;
  return (json, walk) => {
    if (!Array.isArray(json)) return true;
    const count = json.filter((item) => fitsQuietly(check, item, walk)).length;
    return (count >= min && count <= max) || addIssue(walk, "expected another number of certain items");
  };
}

function checkUnique(json: JsonValue, walk: CheckWalk): boolean {
  const isUnique = !Array.isArray(json) || new Set(json.map(canonicalText)).size === json.length;
  return isUnique || addIssue(walk, "expected no item twice");
}

/** Creates the checks of a count, which is `NaN` for values of another type. */
function countChecks(
  countOf: (json: JsonValue) => number,
  [min, max]: readonly [JsonValue | undefined, JsonValue | undefined],
  unit: string,
): Check[] {
  const checks: Check[] = [];
  if (typeof min === "number")
    checks.push((json, walk) => !(countOf(json) < min) || addIssue(walk, `expected at least ${min} ${unit}`));
  if (typeof max === "number")
    checks.push((json, walk) => !(countOf(json) > max) || addIssue(walk, `expected at most ${max} ${unit}`));
  return checks;
}

/** Creates the checks of objects. They accept any other value. */
export function createObjectChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const { required, propertyNames, minProperties, maxProperties, dependentRequired } = node;
  const checks: Check[] = [];
  if (partKeywords.some((key) => node[key] !== undefined)) checks.push(everyKey(toFieldCheck(node, compiler)));
  if (Array.isArray(required)) checks.push(requiredCheck(required.map(String)));
  if (propertyNames !== undefined) {
    const check = compiler.later(propertyNames);
    checks.push(everyKey((key, _, walk) => check(key, walk)));
  }
  const countOf = (json: JsonValue): number => (isJsonObject(json) ? Object.keys(json).length : Number.NaN);
  checks.push(...countChecks(countOf, [minProperties, maxProperties], "fields"));
  for (const [key, needs] of partsOf(dependentRequired)) {
    if (Array.isArray(needs)) checks.push(dependentCheck(key, needs.map(String)));
  }
  return checks;
}

function toFieldCheck(node: JsonObject, compiler: CheckCompiler): FieldCheck {
  const { properties, patternProperties, additionalProperties } = node;
  const own = new Map(partsOf(properties).map(([key, part]) => [key, compiler.later(part)]));
  const patterns = partsOf(patternProperties).map(([source, part]) => {
    return { test: createPatternTest(source, compiler.isExact), check: compiler.later(part) };
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
      addIssue(walk, "expected a value, received nothing");
      walk.path.pop();
    }
    return missing.length === 0;
  };
}

function dependentCheck(key: string, names: readonly string[]): Check {
  return (json, walk) => {
    if (!isJsonObject(json) || !Object.hasOwn(json, key)) return true;
    const missing = names.find((name) => !Object.hasOwn(json, name));
    return missing === undefined || addIssue(walk, `expected "${missing}" beside "${key}"`);
  };
}

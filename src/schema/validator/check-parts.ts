import {
  canonicalText,
  createTypeTest,
  isJsonObject,
  type JsonObject,
  jsonTypeOf,
  type JsonValue,
  toList,
} from "../json.ts";
import { typesOf, valuesOf } from "../keywords.ts";
import {
  addIssue,
  type Check,
  type CheckCompiler,
  type CheckWalk,
  countPatternSteps,
  fitsQuietly,
  isSettled,
  isTooDeep,
} from "./check-walk.ts";
import { compileLinearPattern } from "./linear-pattern.ts";
import { toBigint, toDate, wireKey } from "../wire-forms.ts";

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

/** Tests a text by a pattern. */
type PatternTest = (text: string, walk: CheckWalk) => boolean;

// Quotients of decimal fractions are seldom whole: 0.3 / 0.1 is 2.9999999999999996.
const quotientError = 1e-9;
const maxShown = 8;

/** Creates the checks of a node's type and values, of texts and of numbers. */
export function createScalarChecks(node: JsonObject, isExact: boolean): Check[] {
  const [types, values] = [typesOf(node), valuesOf(node)];
  const checks: Check[] = [];
  if (types !== undefined) checks.push(typeCheck(types));
  if (values !== undefined) checks.push(valueCheck(values));
  if (isExact && values !== node["enum"] && Array.isArray(node["enum"])) checks.push(valueCheck(node["enum"]));
  checks.push(...textChecks(node, isExact), ...numberChecks(node));
  if (node[wireKey] === "absent") checks.push((json, walk) => addIssue(walk, expected("nothing", json)));
  return checks;
}

/** Creates the test for one of some values. */
export function createValueTest(values: readonly JsonValue[]): (json: JsonValue) => boolean {
  const scalars = new Set<JsonValue>(values.filter((value) => typeof value !== "object" || value === null));
  const texts = new Set(values.filter((value) => !scalars.has(value)).map(canonicalText));
  return (json) => scalars.has(json) || (typeof json === "object" && json !== null && texts.has(canonicalText(json)));
}

function typeCheck(types: readonly string[]): Check {
  const test = createTypeTest(types);
  const need = types.join(" or ");
  return (json, walk) => test(json) || addIssue(walk, expected(need, json));
}

function valueCheck(values: readonly JsonValue[]): Check {
  const test = createValueTest(values);
  const shown = values.slice(0, maxShown).map((value) => JSON.stringify(value));
  const need = values.length > maxShown ? `one of ${values.length} values` : `one of ${shown.join(", ")}`;
  return (json, walk) => test(json) || addIssue(walk, `expected ${need}`);
}

function expected(need: string, json: JsonValue): string {
  return `expected ${need}, received ${jsonTypeOf(json)}`;
}

/** @param need - completes `expected …`. */
function textCheck(need: string, holds: (text: string) => boolean): Check {
  return (json, walk) => typeof json !== "string" || holds(json) || addIssue(walk, `expected ${need}`);
}

function textChecks(node: JsonObject, isExact: boolean): Check[] {
  const { minLength: least, maxLength: most, pattern, [wireKey]: form } = node;
  const checks: Check[] = [];
  if (typeof least === "number") {
    // JSON Schema counts characters, and most libraries UTF-16 units: a reader accepts the longer count. A character is at most
    // two units, so only a text that might be too short is counted.
    const isLong = (text: string): boolean => {
      return text.length >= least && (!isExact || text.length >= least * 2 || Array.from(text).length >= least);
    };
    checks.push(textCheck(`at least ${least} characters`, isLong));
  }
  if (typeof most === "number") checks.push(textCheck(`at most ${most} characters`, (text) => isWithin(text, most)));
  // A format is an annotation unless decoding relies on it.
  if (form === "date") checks.push(textCheck("a date and time of ISO 8601", (text) => toDate(text) !== undefined));
  if (form === "bigint") checks.push(textCheck("an integer as text", (text) => toBigint(text) !== undefined));
  if (typeof pattern === "string") {
    const holds = createPatternTest(pattern, isExact);
    const need = `expected text that matches ${pattern}`;
    checks.push((json, walk) => typeof json !== "string" || holds(json, walk) || addIssue(walk, need));
  }
  return checks;
}

function isWithin(text: string, most: number): boolean {
  // A character is at most two units, so only a text that might fit is counted.
  return text.length <= most || (text.length <= most * 2 && Array.from(text).length <= most);
}

/**
 * Creates the test of a pattern. An exact one may come from a source that chose it to block the process, and runs on the
 * linear engine. A pattern of the application's own schemas runs on the engine of JavaScript.
 */
function createPatternTest(pattern: string, isExact: boolean): PatternTest {
  const { matches } = isExact ? compileLinearPattern(pattern) : {};
  if (matches !== undefined) return (text, walk) => matches(text, (steps) => countPatternSteps(walk, steps));
  const regExp = new RegExp(pattern, "u");
  return (text) => regExp.test(text);
}

function numberChecks({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject): Check[] {
  return [
    ...numberCheck(minimum, "at least", (value, bound) => value >= bound),
    ...numberCheck(maximum, "at most", (value, bound) => value <= bound),
    ...numberCheck(exclusiveMinimum, "more than", (value, bound) => value > bound),
    ...numberCheck(exclusiveMaximum, "less than", (value, bound) => value < bound),
    ...numberCheck(multipleOf, "a multiple of", isMultiple),
  ];
}

function numberCheck(
  bound: JsonValue | undefined,
  need: string,
  holds: (value: number, bound: number) => boolean,
): Check[] {
  if (typeof bound !== "number") return [];
  const message = `expected ${need} ${bound}`;
  return [(json, walk) => typeof json !== "number" || holds(json, bound) || addIssue(walk, message)];
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) <= quotientError * Math.max(1, Math.abs(quotient));
}

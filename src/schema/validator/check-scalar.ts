import { canonicalText, createTypeTest, jsonTypeOf } from "../json.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { typesOf, valuesOf } from "../keywords.ts";
import { toBigint, toDate, wireKey } from "../wire-forms.ts";
import { addIssue, countPatternSteps } from "./check-walk.ts";
import type { Check, CheckWalk } from "./check-walk.ts";
import { compileLinearPattern } from "./linear-pattern.ts";

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
export function createPatternTest(pattern: string, isExact: boolean): PatternTest {
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

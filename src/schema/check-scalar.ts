import { canonicalText, jsonTypeOf } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { compileLinearPattern } from "./linear-pattern.ts";
import { refuse, spendOnPattern } from "./receive-walk.ts";
import type { Check, ReceiveWalk } from "./receive-walk.ts";
import { toBigint, toDate, wireKey } from "./wire-forms.ts";

/** Tests a text by a pattern. */
type PatternTest = (text: string, walk: ReceiveWalk) => boolean;

/** A condition of a text or a number. `need` completes `expected …`. */
interface Rule<TValue> {
  readonly need: string;
  readonly holds: (value: TValue) => boolean;
}

const typeTests: ReadonlyMap<JsonValue, (json: JsonValue) => boolean> = new Map([
  ["string", (json) => typeof json === "string"],
  // JSON.parse reads 1e999 as Infinity.
  ["number", (json) => Number.isFinite(json)],
  ["integer", (json) => Number.isInteger(json)],
  ["boolean", (json) => typeof json === "boolean"],
  ["null", (json) => json === null],
  ["array", (json) => Array.isArray(json)],
  ["object", (json) => typeof json === "object" && json !== null && !Array.isArray(json)],
]);
// Quotients of decimal fractions are seldom whole: 0.3 / 0.1 is 2.9999999999999996.
const quotientError = 1e-9;
const maxShown = 8;

/** The checks of a node's type and values, of texts and of numbers. */
export function createScalarChecks(node: JsonObject, isExact: boolean): Check[] {
  const { type } = node;
  const checks: Check[] = [];
  const values = valuesOf(node);
  if (type !== undefined) checks.push(typeCheck(Array.isArray(type) ? type : [type]));
  if (values !== undefined) checks.push(valueCheck(values));
  if (isExact && values !== node["enum"] && Array.isArray(node["enum"])) checks.push(valueCheck(node["enum"]));
  if (isExact && typeof node["minLength"] === "number") checks.push(textCheck(characterRule(node["minLength"])));
  checks.push(...textRules(node).map(textCheck), ...numberRules(node).map(numberCheck));
  checks.push(...patternChecks(node, isExact));
  if (node[wireKey] === "absent") checks.push((json, walk) => refuse(walk, expected("nothing", json)));
  return checks;
}

/** The only values that a node allows, or undefined. */
export function valuesOf(node: JsonObject): readonly JsonValue[] | undefined {
  if (Object.hasOwn(node, "const")) return [node["const"] ?? null];
  return Array.isArray(node["enum"]) ? node["enum"] : undefined;
}

/** Makes the test whether a value is of one of some types. */
export function toTypeTest(types: readonly JsonValue[]): (json: JsonValue) => boolean {
  const tests = types.map((type) => typeTests.get(type) ?? (() => false));
  const [only] = tests;
  return only !== undefined && tests.length === 1 ? only : (json) => tests.some((test) => test(json));
}

/** Makes the test whether a value is one of some values. */
export function toValueTest(values: readonly JsonValue[]): (json: JsonValue) => boolean {
  const scalars = new Set<JsonValue>(values.filter((value) => typeof value !== "object" || value === null));
  const texts = new Set(values.filter((value) => !scalars.has(value)).map(canonicalText));
  return (json) => scalars.has(json) || (typeof json === "object" && json !== null && texts.has(canonicalText(json)));
}

function typeCheck(types: readonly JsonValue[]): Check {
  const test = toTypeTest(types);
  const need = types.map(String).join(" or ");
  return (json, walk) => test(json) || refuse(walk, expected(need, json));
}

function valueCheck(values: readonly JsonValue[]): Check {
  const test = toValueTest(values);
  const shown = values.slice(0, maxShown).map((value) => JSON.stringify(value));
  const need = values.length > maxShown ? `one of ${values.length} values` : `one of ${shown.join(", ")}`;
  return (json, walk) => test(json) || refuse(walk, `expected ${need}`);
}

function expected(need: string, json: JsonValue): string {
  return `expected ${need}, received ${jsonTypeOf(json)}`;
}

function textCheck({ need, holds }: Rule<string>): Check {
  return (json, walk) => typeof json !== "string" || holds(json) || refuse(walk, `expected ${need}`);
}

function numberCheck({ need, holds }: Rule<number>): Check {
  return (json, walk) => typeof json !== "number" || holds(json) || refuse(walk, `expected ${need}`);
}

function textRules(node: JsonObject): Rule<string>[] {
  const { minLength, maxLength, [wireKey]: form } = node;
  const rules: Rule<string>[] = [];
  // JSON Schema counts characters, and most libraries UTF-16 units: what fits by either count fits.
  if (typeof minLength === "number")
    rules.push({ need: `at least ${minLength} characters`, holds: (text) => text.length >= minLength });
  if (typeof maxLength === "number")
    rules.push({ need: `at most ${maxLength} characters`, holds: (text) => isWithin(text, maxLength) });
  // A format by itself is a note; only where decoding relies on it is it a condition.
  if (form === "date") rules.push({ need: "a date and time of ISO 8601", holds: (text) => toDate(text) !== undefined });
  if (form === "bigint") rules.push({ need: "an integer as text", holds: (text) => toBigint(text) !== undefined });
  return rules;
}

function patternChecks({ pattern }: JsonObject, isExact: boolean): Check[] {
  if (typeof pattern !== "string") return [];
  const holds = toPatternTest(pattern, isExact);
  const need = `expected text that matches ${pattern}`;
  return [(json, walk) => typeof json !== "string" || holds(json, walk) || refuse(walk, need)];
}

/**
 * Creates the test of a pattern. An exact one may come from a source that chose it to block the process, and runs on the
 * linear engine. A pattern of the application's own schemas runs on the engine of JavaScript.
 */
export function toPatternTest(pattern: string, isExact: boolean): PatternTest {
  const { matches } = isExact ? compileLinearPattern(pattern) : {};
  if (matches !== undefined) return (text, walk) => matches(text, (steps) => spendOnPattern(walk, steps));
  const regExp = new RegExp(pattern, "u");
  return (text) => regExp.test(text);
}

function characterRule(minLength: number): Rule<string> {
  // A character is at most two units, so only what might not do is counted.
  const holds = (text: string): boolean => text.length >= minLength * 2 || Array.from(text).length >= minLength;
  return { need: `at least ${minLength} characters`, holds };
}

function isWithin(text: string, maxLength: number): boolean {
  if (text.length <= maxLength) return true;
  // A character is at most two units, so only what might fit is counted.
  return text.length <= maxLength * 2 && Array.from(text).length <= maxLength;
}

function numberRules(node: JsonObject): Rule<number>[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  const rules: Rule<number>[] = [];
  if (typeof minimum === "number") rules.push({ need: `at least ${minimum}`, holds: (value) => value >= minimum });
  if (typeof maximum === "number") rules.push({ need: `at most ${maximum}`, holds: (value) => value <= maximum });
  if (typeof exclusiveMinimum === "number")
    rules.push({ need: `more than ${exclusiveMinimum}`, holds: (value) => value > exclusiveMinimum });
  if (typeof exclusiveMaximum === "number")
    rules.push({ need: `less than ${exclusiveMaximum}`, holds: (value) => value < exclusiveMaximum });
  if (typeof multipleOf === "number")
    rules.push({ need: `a multiple of ${multipleOf}`, holds: (value) => isMultiple(value, multipleOf) });
  return rules;
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) <= quotientError * Math.max(1, Math.abs(quotient));
}

import { canonicalText } from "./canonical-text.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** Tells whether what a producer's node says of a keyword is enough for what a consumer's asks. */
type Rule = (asked: JsonValue, producer: JsonObject) => boolean;

const atLeast =
  (key: string): Rule =>
  (asked, producer) =>
    numberAt(producer, key, 0) >= Number(asked);

const atMost =
  (key: string): Rule =>
  (asked, producer) =>
    numberAt(producer, key, Number.POSITIVE_INFINITY) <= Number(asked);

const sameAs =
  (key: string): Rule =>
  (asked, producer) =>
    producer[key] === asked;

// Each keyword by the type whose values it is about.
const rules: ReadonlyMap<string, { readonly type: string; readonly holds: Rule }> = new Map([
  ["minLength", { type: "string", holds: atLeast("minLength") }],
  ["maxLength", { type: "string", holds: atMost("maxLength") }],
  ["pattern", { type: "string", holds: sameAs("pattern") }],
  ["format", { type: "string", holds: sameAs("format") }],
  ["minimum", { type: "number", holds: (asked, producer) => lowest(producer) >= Number(asked) }],
  ["maximum", { type: "number", holds: (asked, producer) => highest(producer) <= Number(asked) }],
  ["exclusiveMinimum", { type: "number", holds: (asked, producer) => isAbove(producer, Number(asked)) }],
  ["exclusiveMaximum", { type: "number", holds: (asked, producer) => isBelow(producer, Number(asked)) }],
  ["multipleOf", { type: "number", holds: isMultiple }],
  ["minItems", { type: "array", holds: atLeast("minItems") }],
  ["maxItems", { type: "array", holds: atMost("maxItems") }],
  ["uniqueItems", { type: "array", holds: (asked, producer) => asked === false || producer["uniqueItems"] === true }],
  ["minProperties", { type: "object", holds: atLeast("minProperties") }],
  ["maxProperties", { type: "object", holds: atMost("maxProperties") }],
]);

/** The keywords that {@link fitsBounds} compares. */
export const boundKeywords: ReadonlySet<string> = new Set(["type", "enum", "const", ...rules.keys()]);

/** Tells whether types, values and bounds of a producer's node lie within those of a consumer's. */
export function fitsBounds(producer: JsonObject, consumer: JsonObject): boolean {
  if (!fitsTypes(producer, consumer) || !fitsValues(producer, consumer)) return false;
  return Object.entries(consumer).every(([key, asked]) => {
    const rule = rules.get(key);
    if (rule === undefined || asked === undefined || !mayBe(producer, rule.type)) return true;
    return rule.holds(asked, producer);
  });
}

/** Tells whether a value of a node may be of a type. */
export function mayBe(node: JsonObject, type: string): boolean {
  return typesOf(node)?.some((name) => isWithin(name, type) || isWithin(type, name)) ?? true;
}

/** The types that a node allows, by its type or else its values; undefined when it allows all. */
export function typesOf(node: JsonObject): readonly string[] | undefined {
  const { type } = node;
  if (type !== undefined) return (Array.isArray(type) ? type : [type]).map(String);
  return valuesOf(node)?.map((value) => {
    if (value === null) return "null";
    return Array.isArray(value) ? "array" : typeof value;
  });
}

/** The values that a node allows; undefined when it does not list them. */
export function valuesOf(node: JsonObject): readonly JsonValue[] | undefined {
  if (node["const"] !== undefined) return [node["const"]];
  return Array.isArray(node["enum"]) ? node["enum"] : undefined;
}

function fitsTypes(producer: JsonObject, consumer: JsonObject): boolean {
  const { type } = consumer;
  if (type === undefined) return true;
  const allowed = (Array.isArray(type) ? type : [type]).map(String);
  return typesOf(producer)?.every((name) => allowed.some((other) => isWithin(name, other))) ?? false;
}

function fitsValues(producer: JsonObject, consumer: JsonObject): boolean {
  const allowed = valuesOf(consumer);
  if (allowed === undefined) return true;
  const given = valuesOf(producer);
  if (given === undefined) return false;
  const texts = textsOf(allowed);
  for (const text of textsOf(given)) if (!texts.has(text)) return false;
  return true;
}

const known = new WeakMap<readonly JsonValue[], ReadonlySet<string>>();

/** The texts of a list of values, made once: a list is held against each arm of a union. */
function textsOf(values: readonly JsonValue[]): ReadonlySet<string> {
  const texts = known.get(values) ?? new Set(values.map(canonicalText));
  known.set(values, texts);
  return texts;
}

function isWithin(type: string, other: string): boolean {
  return type === other || (type === "integer" && other === "number");
}

function numberAt(node: JsonObject, key: string, otherwise: number): number {
  const value = node[key];
  return typeof value === "number" ? value : otherwise;
}

function lowest(node: JsonObject): number {
  const none = Number.NEGATIVE_INFINITY;
  return Math.max(numberAt(node, "minimum", none), numberAt(node, "exclusiveMinimum", none));
}

function highest(node: JsonObject): number {
  const none = Number.POSITIVE_INFINITY;
  return Math.min(numberAt(node, "maximum", none), numberAt(node, "exclusiveMaximum", none));
}

function isAbove(node: JsonObject, bound: number): boolean {
  const none = Number.NEGATIVE_INFINITY;
  return numberAt(node, "exclusiveMinimum", none) >= bound || numberAt(node, "minimum", none) > bound;
}

function isBelow(node: JsonObject, bound: number): boolean {
  const none = Number.POSITIVE_INFINITY;
  return numberAt(node, "exclusiveMaximum", none) <= bound || numberAt(node, "maximum", none) < bound;
}

function isMultiple(asked: JsonValue, producer: JsonObject): boolean {
  const own = numberAt(producer, "multipleOf", typesOf(producer)?.every((type) => type === "integer") ? 1 : Number.NaN);
  return own === asked || own % Number(asked) === 0;
}

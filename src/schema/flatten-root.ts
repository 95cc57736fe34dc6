import { canonicalText } from "./canonical-text.ts";
import { clipText } from "./clip-text.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { orderKeywords } from "./order-keywords.ts";
import { setOwn } from "./set-own.ts";

/** An object schema taken apart: what any of its alternatives may hold. */
interface Fields {
  readonly properties: ReadonlyMap<string, readonly JsonValue[]>;
  /** The fields that are there in every alternative. */
  readonly required: ReadonlySet<string>;
  /** Whether no alternative takes a further field. */
  readonly isClosed: boolean;
  /** One sentence an alternative. */
  readonly rules: readonly string[];
}

const combiners = ["allOf", "anyOf", "oneOf"] as const;
// Each says what only the real schema can hold a value to, and is refused at a root by one provider or another.
const foldedKeywords: ReadonlySet<string> = new Set([
  ...combiners,
  ...["properties", "required", "additionalProperties", "unevaluatedProperties"],
  ...["not", "if", "then", "else", "enum", "const", "dependentSchemas"],
]);
const refusedKeywords = [...foldedKeywords].slice(0, combiners.length).concat(["not", "if", "enum", "const"]);
const maxRules = 24;
const maxRulesBytes = 2048;

/** Tells whether the root of an input has keywords there that large providers refuse for a whole session. */
export function isFlatRoot(json: JsonSchema): boolean {
  return refusedKeywords.every((keyword) => json[keyword] === undefined);
}

/**
 * Writes the root of a tool's input as one plain object. Alternatives become optional fields, a discriminator an enum of
 * its values, and which fields belong together becomes text of the description. The schema that values are held against
 * stays what it was.
 */
export function flattenRoot(json: JsonSchema): JsonSchema {
  if (isFlatRoot(json)) return json;
  const { properties, required, isClosed, rules } = fieldsOf(json);
  const shown: JsonObject = {};
  for (const [key, variants] of properties) setOwn(shown, key, mergeVariants(variants));
  const kept = Object.entries(json).filter(([key]) => !foldedKeywords.has(key));
  const words = [json["description"], toRulesText(rules)].flatMap((text) => {
    return typeof text === "string" && text !== "" ? [text] : [];
  });
  return orderKeywords({
    ...Object.fromEntries(kept),
    type: "object",
    properties: shown,
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(isClosed ? { additionalProperties: false } : {}),
    ...(words.length === 0 ? {} : { description: words.join("\n\n") }),
  });
}

function fieldsOf(node: JsonObject): Fields {
  let fields = ownFields(node);
  for (const part of listOf(node["allOf"])) fields = both(fields, fieldsOf(part));
  for (const keyword of ["anyOf", "oneOf"]) {
    const arms = listOf(node[keyword]);
    if (arms.length > 0) fields = both(fields, oneOfMany(arms.map(fieldsOf), arms));
  }
  return fields;
}

function ownFields({ properties, required, additionalProperties }: JsonObject): Fields {
  const own = Object.entries(isJsonObject(properties) ? properties : {});
  return {
    properties: new Map(own.map(([key, part]) => [key, [part ?? true]])),
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    isClosed: additionalProperties === false,
    rules: [],
  };
}

/** What fits two schemas at once. A field of both is said by the one that says more. */
function both(first: Fields, second: Fields): Fields {
  const properties = new Map(first.properties);
  for (const [key, variants] of second.properties) {
    const known = properties.get(key);
    properties.set(key, known === undefined || variants.length < known.length ? variants : narrower(known, variants));
  }
  return {
    properties,
    required: new Set([...first.required, ...second.required]),
    isClosed: first.isClosed || second.isClosed,
    rules: [...first.rules, ...second.rules],
  };
}

function narrower(first: readonly JsonValue[], second: readonly JsonValue[]): readonly JsonValue[] {
  const weight = (variants: readonly JsonValue[]): number => canonicalText([...variants]).length;
  return weight(second) > weight(first) ? second : first;
}

function oneOfMany(arms: readonly Fields[], nodes: readonly JsonObject[]): Fields {
  const properties = new Map<string, readonly JsonValue[]>();
  for (const arm of arms) {
    for (const [key, variants] of arm.properties) properties.set(key, [...(properties.get(key) ?? []), ...variants]);
  }
  const [first = new Set<string>(), ...others] = arms.map(({ required }) => required);
  const tag = discriminatorOf(arms);
  return {
    properties,
    required: new Set([...first].filter((key) => others.every((required) => required.has(key)))),
    isClosed: arms.every(({ isClosed }) => isClosed),
    rules: arms.flatMap((arm, index) => [...arm.rules, ...ruleOf(arm, { tag, title: nodes[index]?.["title"] })]),
  };
}

/** The field that every alternative requires with one value of its own. */
function discriminatorOf(arms: readonly Fields[]): string | undefined {
  const [first] = arms;
  return [...(first?.required ?? [])].find((key) => {
    const values = arms.map((arm) => (arm.required.has(key) ? onlyValue(arm, key) : undefined));
    return values.every((value) => value !== undefined) && new Set(values).size === arms.length;
  });
}

function onlyValue({ properties }: Fields, key: string): string | undefined {
  const variants = properties.get(key) ?? [];
  const [part] = variants;
  const values = variants.length === 1 && isJsonObject(part) ? part["enum"] : undefined;
  return Array.isArray(values) && values.length === 1 ? JSON.stringify(values[0]) : undefined;
}

function ruleOf(arm: Fields, at: { tag: string | undefined; title: JsonValue | undefined }): readonly string[] {
  if (arm.rules.length > 0) return [];
  const names = [...arm.properties.keys()].filter((key) => key !== at.tag);
  const required = names.filter((key) => arm.required.has(key));
  const optional = names.filter((key) => !arm.required.has(key));
  const needs = required.length === 0 ? "no other field required" : `required ${required.join(", ")}`;
  const takes = optional.length === 0 ? "" : `; optional ${optional.join(", ")}`;
  const title = typeof at.title === "string" ? `${at.title}: ` : "";
  if (at.tag === undefined) return [`${title}${required.length === 0 ? "no field required" : needs}${takes}`];
  return [`${title}${at.tag} ${onlyValue(arm, at.tag) ?? ""}: ${needs}${takes}`];
}

function toRulesText(rules: readonly string[]): string {
  if (rules.length === 0) return "";
  const shown = rules.slice(0, maxRules).map((rule) => `- ${rule}`);
  const more = rules.length > maxRules ? [`- and ${rules.length - maxRules} more`] : [];
  const lines = ["Give the fields of exactly one of these:", ...shown, ...more];
  return lines.map((line) => clipText(line, maxRulesBytes / 8)).join("\n");
}

/** One schema for a field that alternatives describe differently. */
function mergeVariants(variants: readonly JsonValue[]): JsonValue {
  const distinct = [...new Map(variants.map((variant) => [canonicalText(variant), variant])).values()];
  const [only] = distinct;
  if (only !== undefined && distinct.length === 1) return only;
  return mergeEnums(distinct) ?? { anyOf: distinct.flatMap(armsOf) };
}

/** The arms of a union, so that a union of unions is one list. */
function armsOf(variant: JsonValue): readonly JsonValue[] {
  if (isJsonObject(variant) && Object.keys(variant).length === 1 && variant["anyOf"] !== undefined) {
    return listOf(variant["anyOf"]);
  }
  return [variant === true ? {} : variant === false ? { not: {} } : variant];
}

function mergeEnums(variants: readonly JsonValue[]): JsonObject | undefined {
  const nodes = variants.filter(isJsonObject);
  const [first] = nodes;
  if (first === undefined || nodes.length < variants.length) return undefined;
  const isEnum = nodes.every((node) => Array.isArray(node["enum"]) && node["type"] === first["type"]);
  if (!isEnum) return undefined;
  const values = nodes.flatMap((node) => (Array.isArray(node["enum"]) ? node["enum"] : []));
  const { type, description } = first;
  const isShared = description !== undefined && nodes.every((node) => node["description"] === description);
  return {
    ...(type === undefined ? {} : { type }),
    ...(isShared ? { description } : {}),
    enum: [...new Set(values)],
  };
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/**
 * The JSON Schema 2020-12 keywords by their value: a schema, a list or a map of schemas, or data. Each walk over a schema uses
 * these tables, so that no property is taken for the keyword of the same name.
 * Source: json-schema.org/draft/2020-12 (core, applicator, unevaluated, validation, meta-data, format, content).
 */
import { canonicalText, isJsonObject, setOwn } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** Keywords whose value is one schema. */
export const schemaKeywords: ReadonlySet<string> = new Set([
  ...["items", "contains", "unevaluatedItems", "additionalProperties", "unevaluatedProperties", "propertyNames"],
  ...["not", "if", "then", "else", "contentSchema"],
]);

/** Keywords whose value is a list of schemas. */
export const listKeywords: ReadonlySet<string> = new Set(["prefixItems", "allOf", "anyOf", "oneOf"]);

/** Keywords whose value is a record of schemas, under names that are data. */
export const mapKeywords: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);

/** Keywords under which a document keeps schemas to refer to. */
export const definitionKeywords: ReadonlySet<string> = new Set(["$defs", "definitions"]);

/** The keywords that apply to values of one type only. A "number" may be an "integer". */
export const keywordsByType: Readonly<Record<string, readonly string[]>> = {
  string: ["format", "pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType", "contentSchema"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  object: [
    ...["properties", "required", "patternProperties", "propertyNames", "additionalProperties"],
    ...["unevaluatedProperties", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"],
  ],
  array: [
    ...["prefixItems", "items", "contains", "minContains", "maxContains", "unevaluatedItems"],
    ...["minItems", "maxItems", "uniqueItems"],
  ],
};

/** The order in which keywords are emitted. A keyword that is not in the list is not emitted, save `x-…` ones, last. */
export const keywordOrder: readonly string[] = [
  ...["type", "title", "description", "deprecated", "readOnly", "writeOnly", "const", "enum"],
  ...Object.values(keywordsByType).flat(),
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "default", "examples"],
];

/** The formats that 2020-12 defines; any other makes strict validators refuse the whole schema. */
export const standardFormats: ReadonlySet<string> = new Set([
  ...["date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"],
  ...["uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template"],
  ...["json-pointer", "relative-json-pointer", "regex"],
]);

/**
 * Keywords that depend on the keywords beside them. Keywords of one group stay together when a `$ref` is written out beside
 * siblings.
 */
export const keywordGroups: readonly ReadonlySet<string>[] = [
  new Set(["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"]),
  new Set(["prefixItems", "items", "contains", "minContains", "maxContains", "unevaluatedItems"]),
  new Set(["if", "then", "else"]),
];

const annotationKeywords: ReadonlySet<string> = new Set([
  ...["title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"],
]);
const anyName = canonicalText({ type: "string" });
const ranks: ReadonlyMap<string, number> = new Map(keywordOrder.map((keyword, index) => [keyword, index]));

/** Tells whether a keyword describes values and never refuses one. */
export function isAnnotation(key: string): boolean {
  return annotationKeywords.has(key) || key.startsWith("x-");
}

/** The mark of secrets in schemas that agents see. */
export const sensitiveKey = "x-sensitive";

/** Tells whether a node marks its values as secret: records of requests leave them out. */
export function isSensitive(node: Readonly<Record<string, unknown>>): boolean {
  return (
    node["sensitive"] === true ||
    node[sensitiveKey] === true ||
    node["writeOnly"] === true ||
    node["format"] === "password"
  );
}

/** Tells whether a keyword accepts any name of a field, and so has no effect. */
export function isAnyName(key: string, value: JsonValue | undefined): boolean {
  return key === "propertyNames" && value !== undefined && canonicalText(value) === anyName;
}

/** Compares two keywords by the canonical order; `x-…` ones come last, by name. */
export function compareKeywords(first: string, second: string): number {
  const difference = (ranks.get(first) ?? ranks.size) - (ranks.get(second) ?? ranks.size);
  if (difference !== 0) return difference;
  return first < second ? -1 : 1;
}

/** Puts the keywords of one node into the canonical order. */
export function orderKeywords(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).toSorted(([first], [second]) => compareKeywords(first, second)));
}

/**
 * Copies the value of a keyword with each schema below it replaced. Boolean schemas stay, except under `not`.
 *
 * @param replace - gets the schema, and its name in a map or its index in a list.
 * @returns undefined if the value is data.
 */
export function copySchemas(
  { key, value }: { readonly key: string; readonly value: unknown },
  replace: (schema: unknown, step?: string | number) => JsonValue,
): JsonValue | undefined {
  if (schemaKeywords.has(key)) return typeof value === "boolean" && key !== "not" ? value : replace(value);
  if (listKeywords.has(key) && Array.isArray(value)) return value.map((schema, index) => replace(schema, index));
  if (!mapKeywords.has(key) || !isJsonObject(value)) return undefined;
  const copy: Record<string, JsonValue> = {};
  for (const [name, schema] of Object.entries(value)) setOwn(copy, name, replace(schema, name));
  return copy;
}

/** Returns the types that a node allows; undefined if it has no `type`. */
export function typesOf({ type }: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  if (type === undefined) return undefined;
  // A name that is no text is unknown, as every other name that no type has.
  return (Array.isArray(type) ? type : [type]).map((name: unknown) => (typeof name === "string" ? name : "unknown"));
}

/** Returns the only values that a node allows; undefined if it has neither `const` nor `enum`. The node is JSON. */
export function valuesOf(node: Readonly<Record<string, unknown>>): readonly JsonValue[] | undefined {
  const values = Object.hasOwn(node, "const") ? [node["const"] ?? null] : node["enum"];
  // The values of JSON are JSON.
  return Array.isArray(values) ? (values as readonly JsonValue[]) : undefined;
}

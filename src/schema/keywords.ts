import type { JsonObject } from "./json.ts";

/**
 * The JSON Schema 2020-12 keywords by their value: a schema, a list or a map of schemas, or data. Each walk over a schema uses
 * these tables, so that a property that is *named* like a keyword is never taken for one.
 * Source: json-schema.org/draft/2020-12 (core, applicator, unevaluated, validation, meta-data, format, content).
 */

/** Keywords whose value is one schema. */
export const schemaKeywords: ReadonlySet<string> = new Set([
  "items",
  "contains",
  "unevaluatedItems",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contentSchema",
]);

/** Keywords whose value is a list of schemas. */
export const listKeywords: ReadonlySet<string> = new Set(["prefixItems", "allOf", "anyOf", "oneOf"]);

/** Keywords whose value is a record of schemas, under names that are data. */
export const mapKeywords: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);

/** Keywords under which a document keeps schemas to refer to. */
export const definitionKeywords: ReadonlySet<string> = new Set(["$defs", "definitions"]);

/** Keywords that say something about a value and never reject one. Beside a `$ref`, the referring side's wins. */
export const annotationKeywords: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "deprecated",
  "readOnly",
  "writeOnly",
  "examples",
]);

/** The order in which keywords are emitted. A keyword that is not in the list is not emitted, save `x-…` ones, last. */
export const keywordOrder: readonly string[] = [
  ...["type", "title", "description", "deprecated", "readOnly", "writeOnly"],
  ...["const", "enum", "format", "pattern", "minLength", "maxLength"],
  ...["contentEncoding", "contentMediaType", "contentSchema"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["properties", "required", "patternProperties", "propertyNames", "additionalProperties"],
  ...["unevaluatedProperties", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"],
  ...["prefixItems", "items", "contains", "minContains", "maxContains", "unevaluatedItems"],
  ...["minItems", "maxItems", "uniqueItems"],
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
  ...["default", "examples"],
];

/** The formats that 2020-12 defines; any other makes strict validators refuse the whole schema. */
export const standardFormats: ReadonlySet<string> = new Set([
  ...["date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"],
  ...["uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template"],
  ...["json-pointer", "relative-json-pointer", "regex"],
]);

/** The type names that JSON Schema has. */
export const standardTypes: ReadonlySet<unknown> = new Set([
  ...["string", "number", "integer", "boolean", "null", "object", "array"],
]);

/**
 * Keywords that read their neighbours: to lift one out of its node changes what it means. Keywords of one group stay
 * together when a `$ref` is inlined beside siblings.
 */
export const keywordGroups: readonly ReadonlySet<string>[] = [
  new Set(["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"]),
  new Set(["prefixItems", "items", "contains", "minContains", "maxContains", "unevaluatedItems"]),
  new Set(["if", "then", "else"]),
];

const ranks: ReadonlyMap<string, number> = new Map(keywordOrder.map((keyword, index) => [keyword, index]));

/** Tells whether a keyword says something about a value and never rejects one. */
export function isAnnotation(key: string): boolean {
  return annotationKeywords.has(key) || key.startsWith("x-");
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

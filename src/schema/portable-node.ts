import { canonicalText, jsonTypeOf } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { orderKeywords } from "./keywords.ts";

/** The keywords that bound values of one type only. */
const keywordsByType: Readonly<Record<string, readonly string[]>> = {
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
const typedKeywords: ReadonlySet<string> = new Set(["type", "enum", ...Object.values(keywordsByType).flat()]);

/**
 * Rewrites a node with the keywords that hosts and providers understand: `anyOf` for `oneOf`, `enum` for `const`, one type
 * a node. The parts of the node are portable already.
 *
 * @param isExact - Whether the result may not be wider than the node, as below `not`. Then `oneOf` stays. Elsewhere `anyOf`
 *   may be wider, because values are validated by the original schema.
 */
export function toPortableNode(node: JsonObject, isExact = false): JsonObject {
  const portable = splitTypes(toTypedEnum(isExact ? node : toInclusive(node)));
  return portable === node ? node : orderKeywords(portable);
}

function toInclusive(node: JsonObject): JsonObject {
  const { oneOf, ...rest } = node;
  if (oneOf === undefined) return node;
  if (rest["anyOf"] === undefined) return { ...rest, anyOf: oneOf };
  const { allOf } = rest;
  return { ...rest, allOf: [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }] };
}

function toTypedEnum(node: JsonObject): JsonObject {
  const { const: only, ...rest } = node;
  const values = only === undefined ? rest["enum"] : onlyAmong(only, rest["enum"]);
  if (!Array.isArray(values)) return node;
  if (values.length === 0) return { not: {} };
  if (rest["type"] !== undefined && only === undefined) return node;
  const types = [...new Set(values.map(jsonTypeOf))];
  const type = rest["type"] ?? (types.length === 1 ? types[0] : types);
  return { ...rest, ...(type === undefined ? {} : { type }), enum: values };
}

/** A constant, where the list of values beside it has it too. */
function onlyAmong(only: JsonValue, values: JsonValue | undefined): readonly JsonValue[] {
  const text = canonicalText(only);
  return !Array.isArray(values) || values.some((value) => canonicalText(value) === text) ? [only] : [];
}

/** Writes one arm a type, each with the keywords of that type. Annotations stay on the node. */
function splitTypes(node: JsonObject): JsonObject {
  const { type, enum: values } = node;
  if (type === "null" && Array.isArray(values) && values.includes(null)) return withoutEnum(node);
  if (!Array.isArray(type)) return node;
  const kept = Object.entries(node).filter(([key]) => !typedKeywords.has(key));
  const rest: JsonObject = Object.fromEntries(kept);
  const arms = type.flatMap((name) => (typeof name === "string" ? armOf(node, name) : []));
  const [only] = arms;
  // No value is of one of the types and among the values.
  if (only === undefined) return { not: {} };
  if (arms.length === 1) return { ...rest, ...only };
  if (rest["anyOf"] === undefined) return { ...rest, anyOf: arms };
  const { allOf } = rest;
  return { ...rest, allOf: [...(Array.isArray(allOf) ? allOf : []), { anyOf: arms }] };
}

function armOf(node: JsonObject, type: string): JsonObject[] {
  const own = keywordsByType[type === "integer" ? "number" : type] ?? [];
  const arm = Object.fromEntries(Object.entries(node).filter(([key]) => own.includes(key)));
  const { enum: values } = node;
  if (!Array.isArray(values)) return [{ type, ...arm }];
  const fitting = values.filter((value) => isOfType(value, type));
  if (fitting.length === 0) return [];
  return [type === "null" ? { type } : { type, ...arm, enum: fitting }];
}

function withoutEnum(node: JsonObject): JsonObject {
  const { enum: _enum, ...rest } = node;
  return rest;
}

function isOfType(value: JsonValue, type: string): boolean {
  return type === "integer" ? Number.isInteger(value) : jsonTypeOf(value) === type;
}

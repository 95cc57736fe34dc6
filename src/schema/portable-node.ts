import type { JsonObject, JsonValue } from "./json.ts";
import { orderKeywords } from "./order-keywords.ts";

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
 * Says the same with the keywords that hosts and providers understand: `anyOf` for `oneOf`, `enum` for `const`, one type
 * a node. Only `oneOf` becomes wider by that; values are held against the schema of their author, not against this one.
 * The parts of the node are portable already.
 */
export function toPortableNode(node: JsonObject): JsonObject {
  const portable = splitTypes(toTypedEnum(toInclusive(node)));
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
  const values = only === undefined ? rest["enum"] : [only];
  if (!Array.isArray(values)) return node;
  if (rest["type"] !== undefined && only === undefined) return node;
  const types = [...new Set(values.map(typeOf))];
  const type = rest["type"] ?? (types.length === 1 ? types[0] : types);
  return { ...rest, ...(type === undefined ? {} : { type }), enum: values };
}

/** One arm a type, each with the keywords that concern it; what is said to people stays on the node. */
function splitTypes(node: JsonObject): JsonObject {
  const { type, enum: values } = node;
  if (type === "null" && values !== undefined) return withoutEnum(node);
  if (!Array.isArray(type)) return node;
  const kept = Object.entries(node).filter(([key]) => !typedKeywords.has(key));
  // Two alternatives in one node: the types are left to the schema of the author.
  if (node["anyOf"] !== undefined) return Object.fromEntries(kept);
  const arms = type.flatMap((name) => (typeof name === "string" ? armOf(node, name) : []));
  const [only] = arms;
  return { ...Object.fromEntries(kept), ...(arms.length === 1 ? only : { anyOf: arms }) };
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
  return type === "integer" ? Number.isInteger(value) : typeOf(value) === type;
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

import { compareJson, isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from "../schema/json.ts";
import { copySchemas, isAnnotation } from "../schema/keywords.ts";

/** Keywords whose value is a list that means the same in any order. */
const unorderedKeywords: ReadonlySet<string> = new Set(["type", "enum", "required", "allOf", "anyOf", "oneOf"]);

/** Copies a schema with each node replaced, the innermost first. */
function mapNodes(node: JsonSchema, replace: (node: JsonObject) => JsonObject): JsonObject {
  // The parts of JSON are JSON.
  const toPart = (part: unknown): JsonValue => (isJsonObject(part) ? mapNodes(part, replace) : (part as JsonValue));
  const entries = Object.entries(node).map(([key, value]) => [key, copySchemas({ key, value }, toPart) ?? value]);
  // Object.fromEntries defines, so that `__proto__` stays a key.
  return replace(Object.fromEntries(entries) as JsonObject);
}

function sortLists(node: JsonObject): JsonObject {
  const entries = Object.entries(node).map(([key, value]) => [
    key,
    unorderedKeywords.has(key) && Array.isArray(value) ? value.toSorted(compareJson) : value,
  ]);
  // Each value is that of the node, or a copy of it.
  return Object.fromEntries(entries) as JsonObject;
}

/** Returns a schema whose unordered lists are sorted, at every level. */
export function toCanonicalSchema(schema: JsonSchema): JsonObject {
  return mapNodes(schema, sortLists);
}

/** Returns the annotations of one node, or its other keywords. */
export function pickKeywords(node: JsonObject, which: "annotations" | "constraints"): JsonObject {
  const isPicked = which === "annotations";
  return Object.fromEntries(Object.entries(node).filter(([key]) => isAnnotation(key) === isPicked));
}

/** Returns a schema without annotations, at every level. */
export function toConstraints(schema: JsonObject): JsonObject {
  return mapNodes(schema, (node) => pickKeywords(node, "constraints"));
}

/** Closes objects that do not say whether they are open, so that a comparison sees fields that one side does not declare. */
export function closeObjects(schema: JsonObject): JsonObject {
  return mapNodes(schema, (node) =>
    node["properties"] === undefined ? node : { additionalProperties: false, ...node },
  );
}

import { isJsonObject, setOwn } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { isNode } from "./schema-node.ts";
import type { SchemaNode } from "./schema-node.ts";

const foldedKeywords: ReadonlySet<string> = new Set(["type", "properties", "required", "additionalProperties"]);

/**
 * Writes an intersection of objects as one object, and one with a union as a union of such objects: easier to read than
 * an `allOf`, and to compare. Undefined where a part says more than which fields there are, or where two share a field.
 */
export function foldIntersection(first: SchemaNode, second: SchemaNode): SchemaNode | undefined {
  const arms = armsOf(first) ?? armsOf(second);
  if (arms === undefined) return foldObjects(first, second);
  const other = armsOf(first) === undefined ? first : second;
  const folded = arms.map((arm) => (isNode(arm) ? foldObjects(...inOrder(arm, other, first)) : undefined));
  return folded.includes(undefined) ? undefined : { anyOf: folded };
}

function inOrder(arm: SchemaNode, other: SchemaNode, first: SchemaNode): [SchemaNode, SchemaNode] {
  return other === first ? [other, arm] : [arm, other];
}

/** The arms of a node that says nothing but that. */
function armsOf(node: SchemaNode): readonly unknown[] | undefined {
  const { anyOf, oneOf, ...rest } = node;
  const arms: unknown = anyOf ?? oneOf;
  const isBare = Array.isArray(arms) && Object.keys(rest).length === 0;
  // The items of the list are unchecked.
  return isBare ? (arms as readonly unknown[]) : undefined;
}

function foldObjects(first: SchemaNode, second: SchemaNode): SchemaNode | undefined {
  if (!isFoldable(first) || !isFoldable(second)) return undefined;
  const properties: Record<string, unknown> = {};
  for (const { properties: own } of [first, second]) {
    for (const [key, part] of Object.entries(isNode(own) ? own : {})) {
      if (Object.hasOwn(properties, key)) return undefined;
      setOwn(properties, key, part);
    }
  }
  const required = [first, second].flatMap(({ required: names }) => (Array.isArray(names) ? names.map(String) : []));
  // A field that neither declares is refused only where both refuse it.
  const isClosed = first["additionalProperties"] === false && second["additionalProperties"] === false;
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

function isFoldable(node: SchemaNode): boolean {
  const { type, additionalProperties: rest } = node;
  if (type !== "object" || (rest !== undefined && rest !== false)) return false;
  return Object.keys(node).every((key) => foldedKeywords.has(key));
}

/**
 * Opens the members of an `allOf`. In JSON Schema a closed member sees its own properties only, so two closed objects
 * reject each other's keys and nothing is valid; zod means "the keys of all members together".
 */
export function relaxIntersection(node: JsonObject): JsonObject {
  const { allOf } = node;
  return Array.isArray(allOf) && allOf.length > 1 ? { ...node, allOf: allOf.map(openMember) } : node;
}

function openMember(member: JsonValue): JsonValue {
  if (!isJsonObject(member)) return member;
  const { additionalProperties, ...rest } = member;
  const open: Record<string, JsonValue | undefined> = additionalProperties === false ? rest : { ...member };
  for (const key of ["allOf", "anyOf", "oneOf"]) {
    const arms = open[key];
    if (Array.isArray(arms)) open[key] = arms.map(openMember);
  }
  // Every value was a JSON value before.
  return open as JsonObject;
}

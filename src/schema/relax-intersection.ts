import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";

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

import type { JsonObject, JsonValue } from "./json.ts";
import { annotationKeywords, keywordGroups } from "./keywords.ts";
import { orderKeywords } from "./order-keywords.ts";

/**
 * Joins what a `$ref` pointed at with the keywords beside it. Both apply: annotations beside the reference win over
 * the target's, constraints are merged where that keeps their meaning and put into an `allOf` where it does not.
 */
export function combineRef(target: JsonObject, siblings: JsonObject): JsonObject {
  const keys = Object.keys(siblings);
  if (keys.length === 0) return target;
  const annotations = pick(siblings, (key) => annotationKeywords.has(key) || key.startsWith("x-"));
  const constraints = pick(siblings, (key) => !Object.hasOwn(annotations, key));
  const clashes = Object.keys(constraints).some((key) => clashesWith(target, key, constraints[key]));
  if (!clashes) return orderKeywords({ ...target, ...constraints, ...annotations });
  return orderKeywords({ ...annotations, allOf: [target, constraints] });
}

function clashesWith(target: JsonObject, key: string, value: JsonValue | undefined): boolean {
  if (Object.hasOwn(target, key)) return JSON.stringify(target[key]) !== JSON.stringify(value);
  const group = keywordGroups.find((keywords) => keywords.has(key));
  return group !== undefined && Object.keys(target).some((other) => group.has(other));
}

function pick(node: JsonObject, keep: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => keep(key)));
}

import type { JsonObject } from "./json.ts";
import { keywordOrder } from "./keywords.ts";

const ranks: ReadonlyMap<string, number> = new Map(keywordOrder.map((keyword, index) => [keyword, index]));

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

import type { JsonObject } from "./json.ts";
import { keywordOrder } from "./keywords.ts";

/** Puts the keywords of one node into the canonical order; `x-…` ones come last, by name. */
export function orderKeywords(node: JsonObject): JsonObject {
  const rank = (key: string): number => {
    const index = keywordOrder.indexOf(key);
    return index === -1 ? keywordOrder.length : index;
  };
  const entries = Object.entries(node);
  return Object.fromEntries(entries.toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1)));
}

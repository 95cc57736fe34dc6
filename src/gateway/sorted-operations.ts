import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";

const sorted = new WeakMap<Catalog, readonly ToolEntry[]>();

/** What can be called of a catalog, by id; sorted once for each catalog. */
export function sortedOperations(catalog: Catalog): readonly ToolEntry[] {
  const known = sorted.get(catalog);
  if (known !== undefined) return known;
  const operations = catalog.tools.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  sorted.set(catalog, operations);
  return operations;
}

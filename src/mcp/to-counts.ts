import type { Catalog } from "../catalog/catalog.ts";

const kinds = [
  ["tools", "tool"],
  ["resources", "resource"],
  ["templates", "resource template"],
  ["prompts", "prompt"],
] as const satisfies readonly (readonly [keyof Catalog, string])[];

/** Returns the number of entries of a catalog in words: `1 tool, 2 resources`. */
export function toCounts(catalog: Catalog | undefined): string {
  const counts = kinds.flatMap(([kind, word]) => {
    const count = catalog?.[kind].length ?? 0;
    return count === 0 ? [] : [`${count} ${word}${count === 1 ? "" : "s"}`];
  });
  return counts.length === 0 ? "nothing" : counts.join(", ");
}

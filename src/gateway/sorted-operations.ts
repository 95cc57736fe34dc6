import type { Catalog } from "../catalog/catalog.ts";
import { diffLists } from "../catalog/diff-lists.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { patchSorted } from "../catalog/patch-sorted.ts";

const toId = ({ id }: ToolEntry): string => id;

/** The tools of a catalog, sorted by id. For the next catalog the list is patched. */
export class SortedOperations {
  #tools: Catalog["tools"] = [];
  #sorted: readonly ToolEntry[] = [];

  of({ tools }: Catalog): readonly ToolEntry[] {
    if (tools === this.#tools) return this.#sorted;
    const { gone, come } = diffLists(this.#tools, tools);
    this.#sorted = patchSorted(this.#sorted, { gone: new Set(gone), come }, toId);
    this.#tools = tools;
    return this.#sorted;
  }
}

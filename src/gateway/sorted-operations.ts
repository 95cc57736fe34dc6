import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { patchSorted } from "./patch-sorted.ts";
import { toolChanges } from "./tool-changes.ts";

const toId = ({ id }: ToolEntry): string => id;

/** What can be called of a catalog, by id; of the next catalog it is made by what has come and gone. */
export class SortedOperations {
  #tools: Catalog["tools"] = [];
  #sorted: readonly ToolEntry[] = [];

  of({ tools }: Catalog): readonly ToolEntry[] {
    if (tools === this.#tools) return this.#sorted;
    const { gone, come } = toolChanges(this.#tools, tools);
    this.#sorted = patchSorted(this.#sorted, { gone: new Set(gone), come }, toId);
    this.#tools = tools;
    return this.#sorted;
  }
}

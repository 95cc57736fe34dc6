import type { Catalog } from "../catalog/catalog.ts";
import { diffLists } from "../catalog/list-changes.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { OperationSlots, type SearchScope, type VisibleOperations } from "./operation-slots.ts";
import { rankOperations, type Found } from "./rank-operations.ts";
import type { SearchQuery } from "./search-query.ts";
import { WordCosts } from "./word-costs.ts";
import { WordIndex } from "./word-index.ts";
import { WorkSlices } from "./work-slices.ts";

/** The bounds of one search. */
export interface SearchBounds extends SearchScope {
  /** The most operations that are returned if all words fit. */
  readonly most: number;
}

/** Steps to take an operation into the index of words. */
const stepsPerOperation = 100;

async function createWordIndex(): Promise<WordIndex> {
  const { default: SearchableMap } = await import("minisearch/SearchableMap");
  return new WordIndex(new SearchableMap());
}

/**
 * The operations of a view, by id and by their words. Follows a catalog by its difference to the one before. The first search indexes the
 * words of all operations, and later ones those of the slots that are new.
 */
export class OperationIndex {
  #tools: Catalog["tools"] = [];
  #slots = new OperationSlots();
  #words: Promise<WordIndex> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Shared by all searches: many that wait would otherwise run without a turn of the event loop. */
  readonly #slices = new WorkSlices();

  /** Returns the operations that a request may find, by id. */
  list(catalog: Catalog, scope: SearchScope): readonly ToolEntry[] {
    const { entries, order, visible } = this.#see(catalog, scope);
    const found: ToolEntry[] = [];
    for (const slot of order) {
      const entry = visible[slot] === 1 ? entries[slot] : undefined;
      if (entry !== undefined) found.push(entry);
    }
    return found;
  }

  /** Finds operations for a caller. Searches run one after the other, so that they share the work of indexing. */
  search(catalog: Catalog, query: SearchQuery, bounds: SearchBounds): Promise<Found> {
    const found = this.#turn.then(() => this.#find(catalog, query, bounds));
    this.#turn = found.catch(() => undefined);
    return found;
  }

  async #find(catalog: Catalog, query: SearchQuery, bounds: SearchBounds): Promise<Found> {
    const operations = this.#see(catalog, bounds);
    const words = await (this.#words ??= createWordIndex());
    while (words.slotCount < operations.entries.length) {
      words.add(operations.entries[words.slotCount]);
      await this.#slices.spend(stepsPerOperation);
    }
    const costs = new WordCosts(words, { visible: operations.visible, isIdOnly: query.isName }, this.#slices);
    await costs.find(query);
    return rankOperations({ operations, costs, most: bounds.most }, query, this.#slices);
  }

  #see({ tools }: Catalog, scope: SearchScope): VisibleOperations {
    if (tools !== this.#tools) {
      this.#slots.patch(diffLists(this.#tools, tools));
      this.#tools = tools;
    }
    if (this.#slots.isSparse) {
      this.#slots = new OperationSlots();
      this.#words = undefined;
      this.#slots.patch({ gone: [], come: tools });
    }
    return this.#slots.see(scope);
  }
}

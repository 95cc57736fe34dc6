import type { Catalog } from "../catalog/catalog.ts";
import { diffLists } from "../catalog/list-changes.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { OperationSlots, type SearchScope } from "./operation-slots.ts";
import { rankOperations, WordCosts, type Found } from "./rank-operations.ts";
import type { SearchQuery } from "./search-query.ts";
import { WordIndex } from "./word-index.ts";
import { WorkSlices } from "./work-slices.ts";

/** The bounds of one search. */
export interface SearchBounds extends SearchScope {
  /** The maximum number of operations that match all words. */
  readonly most: number;
}

/** Steps to index an operation. */
const stepsPerOperation = 400;

/** The number of operations indexed without a pause. */
const chunk = 250;

/** The number of new operations from which on they are indexed ahead of requests. Fewer take milliseconds. */
const minPrepared = 1000;

interface Indexed {
  readonly slots: OperationSlots;
  readonly words: WordIndex;
}

async function createIndexed(): Promise<Indexed> {
  const { default: SearchableMap } = await import("minisearch/SearchableMap");
  return { slots: new OperationSlots(), words: new WordIndex(new SearchableMap()) };
}

/** The operations of a view, by id and words. Applies the differences of a changing catalog, in slices, one request at a time. */
export class OperationIndex {
  #tools: Catalog["tools"] = [];
  #indexed: Indexed | undefined;
  #preparedCount = 0;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #slices = new WorkSlices();

  /** Indexes a catalog with many new operations ahead of requests. Does not keep the process alive. */
  prepare(catalog: Catalog): void {
    const { length } = catalog.tools;
    if (length < this.#preparedCount + minPrepared) return;
    this.#preparedCount = length;
    void this.#inTurn(async () => {
      await this.#slices.pause();
      await this.#follow(catalog);
    });
  }

  /** Returns the operations that a request may find, by id. */
  list(catalog: Catalog, scope: SearchScope): Promise<readonly ToolEntry[]> {
    const listed = this.#inTurn(async () => {
      const { slots } = await this.#follow(catalog);
      const visible = slots.see(scope);
      return slots.byId.filter(({ slot }) => visible[slot] === 1).map(({ entry }) => entry);
    });
    return this.#slices.hurry(listed);
  }

  /** Finds operations for a caller. */
  search(catalog: Catalog, query: SearchQuery, bounds: SearchBounds): Promise<Found> {
    const found = this.#inTurn(async () => {
      const { slots, words } = await this.#follow(catalog);
      const visible = slots.see(bounds);
      const costs = new WordCosts(words, { visible, isIdOnly: query.isName }, this.#slices);
      await costs.find(query);
      return rankOperations({ slots, visible, costs, most: bounds.most }, query, this.#slices);
    });
    return this.#slices.hurry(found);
  }

  /** Runs work after all earlier work, so that operations do not change meanwhile. */
  #inTurn<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #follow({ tools }: Catalog): Promise<Indexed> {
    let indexed = (this.#indexed ??= await createIndexed());
    if (tools === this.#tools) return indexed;
    const { gone, come } = diffLists(this.#tools, tools);
    this.#tools = tools;
    indexed.slots.remove(gone);
    let added = come;
    if (indexed.slots.isSparse) {
      this.#indexed = indexed = await createIndexed();
      added = tools;
    }
    for (let from = 0; from < added.length; from += chunk) {
      const operations = indexed.slots.add(added.slice(from, from + chunk));
      for (const { entry, slot } of operations) indexed.words.add(entry, slot);
      await this.#slices.spend(operations.length * stepsPerOperation);
    }
    return indexed;
  }
}

import { diffLists } from "../catalog/diff-lists.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { toIndexedOperation, type IndexedOperation } from "./indexed-operation.ts";
import { patchSorted } from "../catalog/patch-sorted.ts";
import { rankOperations, type Found } from "./rank-operations.ts";
import type { SearchQuery } from "./search-query.ts";
import { SortedNames } from "./sorted-names.ts";
import { VisibleSlots, type IsSeen } from "./visible-slots.ts";
import { WordCosts } from "./word-costs.ts";
import { WordIndex } from "./word-index.ts";
import { WorkSlices } from "./work-slices.ts";

/** The bounds of one search. */
export interface SearchBounds {
  /** Decides whether the caller may see an operation: the search is as if the others did not exist. */
  readonly isSeen: IsSeen;
  /** The most operations that it returns where all words fit. */
  readonly most: number;
}

/** Steps to add an operation to the index, or to remove it: a few hundred of them are a slice. */
const stepsPerOperation = 400;

const idOf = ({ entry }: IndexedOperation): string => entry.id;

async function loadIndex(): Promise<WordIndex> {
  const { default: SearchableMap } = await import("minisearch/SearchableMap");
  return new WordIndex(new SearchableMap());
}

/**
 * The operations of a view, indexed by their words. The first search makes the index, and later ones update it by the difference
 * between two catalogs.
 */
export class OperationIndex {
  #index: WordIndex | undefined;
  /** Those of the catalog that it is up with; left out where it is up with none. */
  #tools: Catalog["tools"] | undefined;
  /** By id. */
  #ordered: readonly IndexedOperation[] = [];
  /** Their slots. */
  #order = new Uint32Array();
  #names = new SortedNames();
  readonly #byTool = new Map<ToolEntry, IndexedOperation>();
  readonly #bySlot: (IndexedOperation | undefined)[] = [];
  readonly #free: number[] = [];
  #turn: Promise<unknown> = Promise.resolve();
  /** Shared by all searches: many that wait would otherwise run without a turn of the event loop. */
  readonly #slices = new WorkSlices();

  /**
   * Finds operations for a caller. Searches run one after the other, so that none sees the index between two catalogs.
   */
  search(catalog: Catalog, query: SearchQuery, bounds: SearchBounds): Promise<Found> {
    const found = this.#turn.then(async () => {
      const index = await this.#bringUp(catalog);
      return this.#find(index, query, bounds);
    });
    this.#turn = found.catch(() => undefined);
    return found;
  }

  async #find(index: WordIndex, query: SearchQuery, { isSeen, most }: SearchBounds): Promise<Found> {
    const visible = new VisibleSlots(this.#bySlot, isSeen);
    const costs = new WordCosts(index, { visible, isIdOnly: query.isName }, this.#slices);
    await costs.find(query);
    await this.#slices.spend(visible.slotCount * (query.words.length + 1));
    return rankOperations({ visible, order: this.#order, names: this.#names, costs, most }, query, this.#slices);
  }

  async #bringUp({ tools }: Catalog): Promise<WordIndex> {
    this.#index ??= await loadIndex();
    if (tools !== this.#tools) await this.#follow(tools, this.#index);
    return this.#index;
  }

  async #follow(tools: Catalog["tools"], index: WordIndex): Promise<void> {
    // Where one catalog could not be followed to its end, the index is between two.
    const isBetween = this.#tools === undefined;
    if (isBetween) {
      const all = { gone: new Set<IndexedOperation>(), come: [...this.#byTool.values()] };
      this.#ordered = patchSorted([], all, idOf);
      this.#names = new SortedNames();
      this.#names.patch(all);
    }
    const { gone, come } = diffLists(this.#tools ?? [...this.#byTool.keys()], tools);
    this.#tools = undefined;
    const left = new Set<IndexedOperation>();
    for (const tool of gone) {
      const indexed = this.#byTool.get(tool);
      if (indexed === undefined) continue;
      index.remove(indexed.document);
      this.#bySlot[indexed.slot] = undefined;
      this.#free.push(indexed.slot);
      this.#byTool.delete(tool);
      left.add(indexed);
      await this.#slices.spend(stepsPerOperation);
    }
    const added: IndexedOperation[] = [];
    for (const tool of come) {
      await this.#slices.spend(stepsPerOperation);
      const indexed = toIndexedOperation(tool, this.#free.pop() ?? this.#bySlot.length);
      index.add(indexed.document);
      this.#bySlot[indexed.slot] = indexed;
      this.#byTool.set(tool, indexed);
      added.push(indexed);
    }
    const change = { gone: left, come: added };
    this.#ordered = patchSorted(this.#ordered, change, idOf);
    this.#order = Uint32Array.from(this.#ordered, ({ slot }) => slot);
    this.#names.patch(change);
    this.#tools = tools;
  }
}

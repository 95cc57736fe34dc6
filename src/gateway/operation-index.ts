import type MiniSearch from "minisearch";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { nameOf, namespaceOf } from "./operation-name.ts";
import type { SearchQuery } from "./search-query.ts";
import { sortedOperations } from "./sorted-operations.ts";
import { toWords } from "./to-words.ts";
import { WordCosts, fields, notFound, type IndexedDocument } from "./word-costs.ts";

/** How many operations are indexed before others have their turn. */
const sliceSize = 250;

interface Indexed {
  readonly entry: ToolEntry;
  readonly document: IndexedDocument;
  /** In lower case, as what is looked for is. */
  readonly id: string;
  readonly name: string;
  readonly wireName: string;
}

/** How well what is looked for is an operation's own name. What is worse than these is found by words. */
const named = { id: 0, name: 1, prefix: 2, words: 3 } as const;

function rankOfName({ id, name, wireName }: Indexed, text: string): number {
  if (id === text || wireName === text) return named.id;
  if (name === text) return named.name;
  return id.startsWith(text) || wireName.startsWith(text) ? named.prefix : named.words;
}

function toIndexed(entry: ToolEntry, slot: number): Indexed {
  const { id, title = "", description = "", tags = [] } = entry;
  return {
    entry,
    document: {
      slot,
      name: nameOf(id),
      namespace: namespaceOf(id),
      tags: tags.join(" "),
      description: `${title} ${description}`,
    },
    id: id.toLowerCase(),
    name: nameOf(id).toLowerCase(),
    wireName: entry.name.toLowerCase(),
  };
}

async function loadIndex(): Promise<MiniSearch<IndexedDocument>> {
  const { default: Index } = await import("minisearch");
  return new Index<IndexedDocument>({
    idField: "slot",
    fields: [...fields],
    tokenize: toWords,
    // Words are in lower case already.
    processTerm: (word) => word,
  });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}

/**
 * What a gateway finds operations by: an index of their words, made when somebody first searches, and kept up with the catalog by
 * what has come and gone. The order is that of places: the id, the name, how the id begins, then words of the name, the
 * namespace, the tags and the description. Scores do not decide it, since by them a rare word in a description goes before a
 * frequent one in a name.
 */
export class OperationIndex {
  #index: MiniSearch<IndexedDocument> | undefined;
  #costs: WordCosts | undefined;
  #catalog: Catalog | undefined;
  #ordered: readonly Indexed[] = [];
  readonly #byId = new Map<string, Indexed>();
  #slots = 0;
  readonly #free: number[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * The operations of a catalog that fit, the best first and those that are as good by id. Waits where the index has to be made;
   * searches have their turns, so that none sees the index between two catalogs.
   */
  search(catalog: Catalog, query: SearchQuery): Promise<readonly ToolEntry[]> {
    const found = this.#turn.then(async () => {
      const costs = await this.#bringUp(catalog);
      return this.#rank(costs, query);
    });
    this.#turn = found.catch(() => undefined);
    return found;
  }

  async #bringUp(catalog: Catalog): Promise<WordCosts> {
    this.#index ??= await loadIndex();
    if (catalog !== this.#catalog) await this.#follow(catalog, this.#index);
    this.#costs ??= new WordCosts(this.#index, this.#slots);
    return this.#costs;
  }

  async #follow(catalog: Catalog, index: MiniSearch<IndexedDocument>): Promise<void> {
    this.#catalog = undefined;
    for (const indexed of this.#byId.values()) {
      if (catalog.toolOf(indexed.entry.id) !== indexed.entry) this.#remove(indexed, index);
    }
    const operations = sortedOperations(catalog);
    const missing = operations.filter(({ id }) => !this.#byId.has(id));
    for (const [position, entry] of missing.entries()) {
      if (position % sliceSize === sliceSize - 1) await nextTurn();
      this.#add(entry, index);
    }
    const ordered: Indexed[] = [];
    for (const { id } of operations) {
      const indexed = this.#byId.get(id);
      if (indexed !== undefined) ordered.push(indexed);
    }
    this.#ordered = ordered;
    this.#catalog = catalog;
  }

  #add(entry: ToolEntry, index: MiniSearch<IndexedDocument>): void {
    const indexed = toIndexed(entry, this.#free.pop() ?? this.#slots++);
    index.add(indexed.document);
    this.#byId.set(entry.id, indexed);
    this.#costs = undefined;
  }

  #remove({ entry, document }: Indexed, index: MiniSearch<IndexedDocument>): void {
    index.remove(document);
    this.#free.push(document.slot);
    this.#byId.delete(entry.id);
    this.#costs = undefined;
  }

  #rank(costs: WordCosts, { text, chunks }: SearchQuery): readonly ToolEntry[] {
    const found = chunks.map((chunk) => costs.of(chunk));
    const ranked: ToolEntry[][] = Array.from({ length: notFound }, () => []);
    for (const indexed of this.#ordered) {
      const name = rankOfName(indexed, text);
      const rank = name === named.words ? name + sumOf(found, indexed.document.slot) : name;
      if (rank < notFound) ranked[rank]?.push(indexed.entry);
    }
    const none: ToolEntry[] = [];
    return none.concat(...ranked);
  }
}

/** What all words cost together; `notFound` where one of them does not fit. */
function sumOf(found: readonly Uint8Array[], slot: number): number {
  let sum = 0;
  for (const costs of found) {
    const cost = costs[slot] ?? notFound;
    if (cost === notFound) return notFound;
    sum += cost;
  }
  return sum;
}

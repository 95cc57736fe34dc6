import type MiniSearch from "minisearch";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { nameOf, namespaceOf } from "./operation-name.ts";
import type { SearchQuery } from "./search-query.ts";
import { patchSorted } from "./patch-sorted.ts";
import { toWords } from "./to-words.ts";
import { toolChanges } from "./tool-changes.ts";
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

const idOf = ({ entry }: Indexed): string => entry.id;

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
  /** Those of the catalog that it is up with; left out where it is up with none. */
  #tools: Catalog["tools"] | undefined;
  /** By id. */
  #ordered: readonly Indexed[] = [];
  readonly #byTool = new Map<ToolEntry, Indexed>();
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

  async #bringUp({ tools }: Catalog): Promise<WordCosts> {
    this.#index ??= await loadIndex();
    this.#costs ??= new WordCosts(this.#index);
    if (tools !== this.#tools) await this.#follow(tools, this.#index, this.#costs);
    return this.#costs;
  }

  async #follow(tools: Catalog["tools"], index: MiniSearch<IndexedDocument>, costs: WordCosts): Promise<void> {
    // Where one catalog could not be followed to its end, the index is between two.
    const isBetween = this.#tools === undefined;
    const ordered = isBetween
      ? patchSorted([], { gone: new Set(), come: [...this.#byTool.values()] }, idOf)
      : this.#ordered;
    const { gone, come } = toolChanges(this.#tools ?? [...this.#byTool.keys()], tools);
    this.#tools = undefined;
    const left = new Set<Indexed>();
    for (const tool of gone) {
      const indexed = this.#byTool.get(tool);
      if (indexed === undefined) continue;
      index.remove(indexed.document);
      costs.remove(indexed.document);
      this.#free.push(indexed.document.slot);
      this.#byTool.delete(tool);
      left.add(indexed);
    }
    const added: Indexed[] = [];
    for (const [position, tool] of come.entries()) {
      if (position % sliceSize === sliceSize - 1) await nextTurn();
      const indexed = toIndexed(tool, this.#free.pop() ?? this.#slots++);
      index.add(indexed.document);
      costs.add(indexed.document);
      this.#byTool.set(tool, indexed);
      added.push(indexed);
    }
    this.#ordered = patchSorted(ordered, { gone: left, come: added }, idOf);
    this.#tools = tools;
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

import type MiniSearch from "minisearch";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { nameOf, namespaceOf } from "./operation-name.ts";
import type { SearchQuery } from "./search-query.ts";
import { patchSorted } from "./patch-sorted.ts";
import { toIndexWords } from "./to-words.ts";
import { toolChanges } from "./tool-changes.ts";
import { WordCosts, fields, notFound, type IndexedDocument } from "./word-costs.ts";

/** How many operations are indexed before others have their turn. */
const sliceSize = 250;

interface Indexed {
  readonly entry: ToolEntry;
  readonly document: IndexedDocument;
  /** Its id and its wire name, in lower case; then both without the first segment, which may be the prefix of a mount. */
  readonly names: readonly string[];
  /** The last segment of its id, in lower case. */
  readonly name: string;
  /** All of them, each behind a line break: one look tells whether any begins with a text, which for most none does. */
  readonly lines: string;
}

/** How well what is looked for is an operation's own name. What is worse than these is found by words. */
const named = { id: 0, name: 1, prefix: 2, words: 3 } as const;

function rankOfName({ names, name, lines }: Indexed, text: string): number {
  if (!lines.includes(`\n${text}`)) return named.words;
  const place = names.indexOf(text);
  if (place !== -1) return place < 2 ? named.id : named.name;
  if (name === text) return named.name;
  for (const one of names) if (one.startsWith(text)) return named.prefix;
  return named.words;
}

function toNames(id: string, wireName: string): readonly string[] {
  const dot = id.indexOf(".") + 1;
  // In a wire name, each character stands where it stands in the id.
  return dot === 0 ? [id, wireName] : [id, wireName, id.slice(dot), wireName.slice(dot)];
}

const idOf = ({ entry }: Indexed): string => entry.id;

function toIndexed(entry: ToolEntry, slot: number): Indexed {
  const names = toNames(entry.id.toLowerCase(), entry.name.toLowerCase());
  const name = nameOf(entry.id).toLowerCase();
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
    names,
    name,
    lines: `\n${[...names, name].join("\n")}`,
  };
}

async function loadIndex(): Promise<MiniSearch<IndexedDocument>> {
  const { default: Index } = await import("minisearch");
  return new Index<IndexedDocument>({
    idField: "slot",
    fields: [...fields],
    tokenize: toIndexWords,
    // Words are in lower case already.
    processTerm: (word) => word,
  });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}

/** Whether a caller may see an operation. */
type IsSeen = (entry: ToolEntry) => boolean;

/** What is looked for, as the costs of its words. */
interface Wanted {
  readonly needed: readonly Uint8Array[];
  /** Those of its stop words. */
  readonly better: readonly Uint8Array[];
  readonly text: string;
}

/** The cost of a stop word that an operation does not have: a little more than having it in the description. */
const lackOfStopWord = fields.length * 2 - 1;

/** What a search has found. */
export interface Found {
  /** Those that all words fit: the best first, and those that are as good by id. */
  readonly whole: readonly ToolEntry[];
  /** A few that some words fit, the best first. Empty where there are enough of the others. */
  readonly partly: readonly ToolEntry[];
}

/** How many results there are at most where some fit only in part. */
const maxWithPartly = 10;

/** How much it is worth that a word was found, by its cost: less in a worse place. */
const worth = Float64Array.from({ length: notFound + 1 }, (_none, cost) => (cost === notFound ? 0 : 4 / (4 + cost)));

/**
 * Those that some words fit, the best first. A word counts for the more, the fewer operations have it: of those that the caller
 * may see, so that the order says nothing of others.
 */
function rankPartly(others: readonly Indexed[], costs: readonly Uint8Array[], whole: number): readonly ToolEntry[] {
  const scores = new Float64Array(others.length);
  for (const cost of costs) {
    let having = whole + 1;
    for (const { document } of others) if ((cost[document.slot] ?? notFound) !== notFound) having += 1;
    const weight = Math.log(1 + (others.length + whole) / having);
    let at = 0;
    for (const { document } of others) {
      scores[at] = (scores[at] ?? 0) + weight * (worth[cost[document.slot] ?? notFound] ?? 0);
      at += 1;
    }
  }
  const best = scores.reduce((one, other) => Math.max(one, other), 0);
  if (best === 0) return [];
  return others
    .flatMap(({ entry }, index) => {
      const score = scores[index] ?? 0;
      return score >= best / 2 ? { entry, score } : [];
    })
    .toSorted((one, other) => other.score - one.score)
    .map(({ entry }) => entry);
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
   * Finds the operations of a catalog that fit, of those that `isSeen` is true of. Waits where the index has to be made; searches
   * have their turns, so that none sees the index between two catalogs.
   */
  search(catalog: Catalog, query: SearchQuery, isSeen: IsSeen): Promise<Found> {
    const found = this.#turn.then(async () => {
      const costs = await this.#bringUp(catalog);
      const { stopWords: words, pairs, text } = query;
      return this.#rank({ needed: costs.of(query), better: costs.of({ words, pairs }), text }, isSeen);
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

  #rank({ needed, better, text }: Wanted, isSeen: IsSeen): Found {
    const ranked: ToolEntry[][] = Array.from({ length: notFound }, () => []);
    const rest: Indexed[] = [];
    // No name has a blank in it.
    const mayBeName = !/\s/u.test(text);
    for (const indexed of this.#ordered) {
      const { slot } = indexed.document;
      const name = mayBeName ? rankOfName(indexed, text) : named.words;
      const cost = name === named.words ? name + sumOf(needed, slot) : name;
      if (cost >= notFound) rest.push(indexed);
      else ranked[name === named.words ? cost + extraOf(better, slot) : cost]?.push(indexed.entry);
    }
    const none: ToolEntry[] = [];
    const whole = none.concat(...ranked).filter(isSeen);
    if (whole.length >= maxWithPartly) return { whole, partly: [] };
    const others = rest.filter(({ entry }) => isSeen(entry));
    return { whole, partly: rankPartly(others, needed, whole.length).slice(0, maxWithPartly - whole.length) };
  }
}

/** The cost of all words together; `notFound` where one of them does not fit. */
function sumOf(costs: readonly Uint8Array[], slot: number): number {
  let sum = 0;
  for (const each of costs) {
    const cost = each[slot] ?? notFound;
    if (cost === notFound) return notFound;
    sum += cost;
  }
  return sum;
}

function extraOf(better: readonly Uint8Array[], slot: number): number {
  return better.reduce((sum, cost) => sum + Math.min(cost[slot] ?? notFound, lackOfStopWord), 0);
}

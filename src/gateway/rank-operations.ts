import type { ToolEntry } from "../catalog/entry.ts";
import { named, type IndexedOperation, type OperationSlots } from "./operation-slots.ts";
import type { SearchQuery } from "./search-query.ts";
import { fields, type Postings, type TermMatch, type WordIndex } from "./word-index.ts";
import type { WorkSlices } from "./work-slices.ts";

/** The cost of a word that an operation does not have. */
export const notFound = 255;

/** The minimum length of each half of a divided word. */
const minHalf = 3;

/** The maximum length of a word that is divided. A longer one would cost a lookup for each of its letters. */
const maxDivided = 24;

/** Steps of a lookup. A lookup of a misspelt word visits a part of all terms. */
const stepsPerLookup = 4_000;

/** Operations of a term, and slots, that are read in one step. */
const readsPerStep = 8;

/** The operations and fields that one search reads. */
export interface WordScope {
  /** By slot: 1 if the caller sees the operation. */
  readonly visible: Uint8Array;
  /** Whether only words of the id count. */
  readonly isIdOnly: boolean;
}

/** The costs of a word by slot, lower is better; `notFound` without the word, also beyond the end. */
type Costs = Uint8Array;

/** The costs of a word that no visible operation has. */
const nowhere: Costs = new Uint8Array();

/**
 * The costs of the words of one query. Depends only on the operations in scope: if a word counted as found because a hidden operation
 * has it, a caller could read hidden texts.
 */
export class WordCosts {
  readonly #index: WordIndex;
  readonly #visible: Uint8Array;
  readonly #isIdOnly: boolean;
  readonly #slices: WorkSlices;
  readonly #fieldCount: number;
  readonly #found = new Map<string, Costs>();

  constructor(index: WordIndex, { visible, isIdOnly }: WordScope, slices: WorkSlices) {
    this.#index = index;
    this.#visible = visible;
    this.#isIdOnly = isIdOnly;
    this.#slices = slices;
    this.#fieldCount = isIdOnly ? fields.indexOf("namespace") + 1 : fields.length;
  }

  /** Looks up the words of a query, once. Two neighbours count as one word too, and a word without matches as two. */
  async find({ words, stopWords, pairs }: SearchQuery): Promise<void> {
    for (const word of words) await this.#lookUp(word, [word]);
    for (const word of stopWords) await this.#lookUp(word, [word]);
    if (this.#isIdOnly) return;
    for (const pair of pairs) await this.#lookUp(pair.join(""), pair);
    for (const word of words) if (!this.#found.has(word)) await this.#divide(word);
  }

  /** Returns the costs of a word that was looked up. */
  of(word: string): Costs {
    return this.#found.get(word) ?? nowhere;
  }

  /** @param words - the words of the query that an operation with `form` has. */
  async #lookUp(form: string, words: readonly string[]): Promise<void> {
    await this.#slices.spend(stepsPerLookup);
    for (const match of this.#index.matches(form)) {
      for (const word of words) this.#take(word, match);
      await this.#slices.spend((match.postings.length * words.length) / readsPerStep);
    }
  }

  #take(word: string, { postings, cost }: TermMatch): void {
    let costs = this.#found.get(word);
    for (const posting of postings) {
      const slot = this.#slotOf(posting);
      if (slot === undefined) continue;
      costs ??= this.#add(word);
      costs[slot] = Math.min(costs[slot] ?? notFound, (posting % fields.length) * 2 + cost);
    }
  }

  /** Divides a word into the first two parts that one operation has both of. */
  async #divide(word: string): Promise<void> {
    if (word.length > maxDivided) return;
    for (let at = minHalf; at <= word.length - minHalf && !this.#found.has(word); at += 1) {
      const [left, right] = [this.#index.get(word.slice(0, at)), this.#index.get(word.slice(at))];
      if (left === undefined || right === undefined) continue;
      this.#takeBoth(word, left, right);
      await this.#slices.spend((left.length + right.length) / readsPerStep);
    }
  }

  /** Walks both lists at once: both are sorted by slot. */
  #takeBoth(word: string, left: Postings, right: Postings): void {
    let at = 0;
    for (const posting of left) {
      const slot = this.#slotOf(posting);
      if (slot === undefined) continue;
      while ((right[at] ?? Infinity) < slot * fields.length) at += 1;
      const other = right[at];
      if (other === undefined || this.#slotOf(other) !== slot) continue;
      const worse = Math.max(posting, other) % fields.length;
      (this.#found.get(word) ?? this.#add(word))[slot] = worse * 2;
    }
  }

  /** Returns the slot of a posting if operation and field are in scope. */
  #slotOf(posting: number): number | undefined {
    const place = posting % fields.length;
    const slot = (posting - place) / fields.length;
    return place < this.#fieldCount && this.#visible[slot] === 1 ? slot : undefined;
  }

  #add(word: string): Costs {
    const costs = new Uint8Array(this.#visible.length).fill(notFound);
    this.#found.set(word, costs);
    return costs;
  }
}

/** The operations of an index, and the costs of a query's words. */
export interface Candidates {
  readonly slots: OperationSlots;
  /** By slot: 1 if the caller sees the operation. */
  readonly visible: Uint8Array;
  readonly costs: WordCosts;
  /** The maximum number of operations that match all words. */
  readonly most: number;
}

/** The result of a search. */
export interface Found {
  /** Operations that match all words: best match first, then by id; at most as many as requested. */
  readonly whole: readonly ToolEntry[];
  /** A few operations that match some words, best match first. Empty if there are enough others. */
  readonly partly: readonly ToolEntry[];
  /** The number of both, including those beyond the end of `whole`. */
  readonly total: number;
}

/** The maximum number of results if some match only in part. */
const maxWithPartly = 10;

/** The cost of a missing stop word: a little more than that of one in the description. */
const lackOfStopWord = fields.length * 2 - 1;

/** The score of a word, by its cost. */
const worth = Float64Array.from({ length: notFound + 1 }, (_none, cost) => (cost === notFound ? 0 : 4 / (4 + cost)));

/** Adds the costs of a word that an operation must have. Without it, its rank is `notFound`. */
function addWord(ranks: Uint8Array, costs: Costs): void {
  for (let slot = 0; slot < ranks.length; slot += 1) {
    const rank = ranks[slot] ?? notFound;
    const cost = costs[slot] ?? notFound;
    ranks[slot] = cost === notFound || rank === notFound ? notFound : rank + cost;
  }
}

/** Adds the costs of a word that an operation may lack. */
function addStopWord(ranks: Uint8Array, costs: Costs): void {
  for (let slot = 0; slot < costs.length; slot += 1) {
    const rank = ranks[slot] ?? notFound;
    if (rank !== notFound) ranks[slot] = rank + Math.min(costs[slot] ?? notFound, lackOfStopWord);
  }
}

/** Returns ranks by slot: the costs of all words; `notFound` if a word is missing or the operation is hidden. */
function rankByWords({ visible, costs }: Candidates, { words, stopWords }: SearchQuery): Uint8Array {
  const ranks = new Uint8Array(visible.length).fill(named.words);
  for (const word of words) addWord(ranks, costs.of(word));
  for (const word of stopWords) addStopWord(ranks, costs.of(word));
  return ranks;
}

/** Returns scores by slot, the sum over the words that an operation has. A rare word scores higher. */
async function scoreParts(words: readonly Costs[], seenCount: number, slices: WorkSlices): Promise<Float64Array> {
  const scores = new Float64Array(words.reduce((size, { length }) => Math.max(size, length), 0));
  for (const costs of words) {
    let having = 1;
    for (const cost of costs) if (cost !== notFound) having += 1;
    const weight = Math.log(1 + seenCount / having);
    for (let slot = 0; slot < costs.length; slot += 1) {
      scores[slot] = (scores[slot] ?? 0) + weight * (worth[costs[slot] ?? notFound] ?? 0);
    }
    await slices.spend(costs.length / readsPerStep);
  }
  return scores;
}

/** Returns the operations with the highest scores, best first: at most `count`, with at least half the highest score. */
function takeBest(operations: readonly IndexedOperation[], scores: Float64Array, count: number): readonly ToolEntry[] {
  const best: { readonly entry: ToolEntry; readonly score: number }[] = [];
  for (const { slot, entry } of operations) {
    const score = scores[slot] ?? 0;
    if (score <= (best[count - 1]?.score ?? 0)) continue;
    const behind = best.findIndex((one) => one.score < score);
    best.splice(behind === -1 ? best.length : behind, 0, { entry, score });
    if (best.length > count) best.pop();
  }
  const least = (best[0]?.score ?? 0) / 2;
  return best.filter(({ score }) => score >= least).map(({ entry }) => entry);
}

/** Returns the operations with the best ranks, best first, then in the given order: at most `count`. */
function takeRanked(operations: readonly IndexedOperation[], ranks: Uint8Array, count: number): readonly ToolEntry[] {
  const sizes = new Uint32Array(notFound);
  for (const rank of ranks) if (rank !== notFound) sizes[rank] = (sizes[rank] ?? 0) + 1;
  let room = count;
  const taken = Array.from(sizes, (size): { readonly most: number; readonly entries: ToolEntry[] } => {
    const most = Math.min(size, room);
    room -= most;
    return { most, entries: [] };
  });
  for (const { slot, entry } of operations) {
    const rank = taken[ranks[slot] ?? notFound];
    if (rank !== undefined && rank.entries.length < rank.most) rank.entries.push(entry);
  }
  return taken.flatMap(({ entries }) => entries);
}

/** Counts the slots that do not have a value. */
function countWithout(bySlot: Uint8Array, value: number): number {
  let count = 0;
  for (const one of bySlot) if (one !== value) count += 1;
  return count;
}

/**
 * Ranks operations by a query. The order of matches: id, name, start of the id, then words in the name, namespace, tags and description.
 * Only operations that lack a word are ranked by scores, in which a rare word in a description beats a frequent word in a name.
 */
export async function rankOperations(candidates: Candidates, query: SearchQuery, slices: WorkSlices): Promise<Found> {
  const { slots, visible, costs, most } = candidates;
  const ranks = rankByWords(candidates, query);
  await slices.spend((ranks.length * (query.words.length + 1)) / readsPerStep);
  // Names have no blanks.
  if (!/\s/u.test(query.text)) slots.rankNamed(ranks, visible, query.text);
  const wholeCount = countWithout(ranks, notFound);
  const whole = takeRanked(slots.byId, ranks, most);
  if (query.isName || wholeCount >= maxWithPartly) return { whole, partly: [], total: wholeCount };
  const words = query.words.map((word) => costs.of(word));
  const scores = await scoreParts(words, countWithout(visible, 0), slices);
  const rest = slots.byId.filter(({ slot }) => ranks[slot] === notFound);
  const partly = takeBest(rest, scores, maxWithPartly - wholeCount);
  return { whole, partly, total: wholeCount + partly.length };
}

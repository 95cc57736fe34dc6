import type { ToolEntry } from "../catalog/entry.ts";
import { named, type OperationSlots } from "./operation-slots.ts";
import type { SearchQuery } from "./search-query.ts";
import { fieldOf, fields, slotOf, type Postings, type TermMatch, type WordIndex } from "./word-index.ts";
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
      if (!this.#isInScope(posting)) continue;
      costs ??= this.#add(word);
      const slot = slotOf(posting);
      costs[slot] = Math.min(costs[slot] ?? notFound, fieldOf(posting) * 2 + cost);
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
      if (!this.#isInScope(posting)) continue;
      const slot = slotOf(posting);
      while (at < right.length && slotOf(right[at] ?? 0) < slot) at += 1;
      const other = right[at];
      if (other === undefined || slotOf(other) !== slot || !this.#isInScope(other)) continue;
      (this.#found.get(word) ?? this.#add(word))[slot] = Math.max(fieldOf(posting), fieldOf(other)) * 2;
    }
  }

  #isInScope(posting: number): boolean {
    return fieldOf(posting) < this.#fieldCount && this.#visible[slotOf(posting)] === 1;
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
  if (costs === nowhere) {
    ranks.fill(notFound);
    return;
  }
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
    for (let slot = 0; slot < costs.length; slot += 1) if (costs[slot] !== notFound) having += 1;
    const weight = Math.log(1 + seenCount / having);
    for (let slot = 0; slot < costs.length; slot += 1) {
      scores[slot] = (scores[slot] ?? 0) + weight * (worth[costs[slot] ?? notFound] ?? 0);
    }
    await slices.spend(costs.length / readsPerStep);
  }
  return scores;
}

/** Returns the operations at indexes by id. */
function entriesAt(slots: OperationSlots, found: readonly { readonly index: number }[]): readonly ToolEntry[] {
  return found.flatMap(({ index }) => slots.byId[index]?.entry ?? []);
}

/** Two arrays by slot. */
interface Scored {
  readonly ranks: Uint8Array;
  readonly scores: Float64Array;
}

/** An operation by its index in the order of ids. */
interface Scoring {
  readonly index: number;
  readonly score: number;
}

/** Inserts an operation behind those with the same score. Returns the score that the next one must exceed. */
function insertScoring(best: Scoring[], scoring: Scoring, count: number): number {
  const behind = best.findIndex(({ score }) => score < scoring.score);
  best.splice(behind === -1 ? best.length : behind, 0, scoring);
  if (best.length > count) best.pop();
  return best[count - 1]?.score ?? 0;
}

/** Returns the operations that lack a word with the highest scores, best first: at most `count`, with at least half the highest score. */
function takeBest(slots: OperationSlots, { ranks, scores }: Scored, count: number): readonly ToolEntry[] {
  const best: Scoring[] = [];
  let least = 0;
  const order = slots.slotsById;
  for (let index = 0; index < order.length; index += 1) {
    const slot = order[index] ?? 0;
    const score = scores[slot] ?? 0;
    if (score > least && ranks[slot] === notFound) least = insertScoring(best, { index, score }, count);
  }
  const half = (best[0]?.score ?? 0) / 2;
  return entriesAt(
    slots,
    best.filter(({ score }) => score >= half),
  );
}

/** The operations that match all words. */
interface Ranked {
  /** Best rank first, then by id; at most as many as requested. */
  readonly entries: readonly ToolEntry[];
  readonly total: number;
}

/** Returns the number of operations by rank. */
function countRanks(ranks: Uint8Array): Uint32Array {
  const sizes = new Uint32Array(notFound + 1);
  for (let slot = 0; slot < ranks.length; slot += 1) {
    const rank = ranks[slot] ?? notFound;
    sizes[rank] = (sizes[rank] ?? 0) + 1;
  }
  return sizes;
}

/** Returns, by rank, how many operations belong to the best `count`. */
function shareOut(sizes: Uint32Array, count: number): Uint32Array {
  let room = count;
  return sizes.map((size, rank) => {
    const share = rank === notFound ? 0 : Math.min(size, room);
    room -= share;
    return share;
  });
}

/** Returns the operations with the best ranks, best first, then by id: at most `count`. */
function takeRanked(slots: OperationSlots, ranks: Uint8Array, count: number): Ranked {
  const sizes = countRanks(ranks);
  const left = shareOut(sizes, count);
  const total = ranks.length - (sizes[notFound] ?? 0);
  const taken: { readonly rank: number; readonly index: number }[] = [];
  const order = slots.slotsById;
  for (let index = 0; taken.length < Math.min(count, total); index += 1) {
    const rank = ranks[order[index] ?? 0] ?? notFound;
    const room = left[rank] ?? 0;
    if (room === 0) continue;
    left[rank] = room - 1;
    taken.push({ rank, index });
  }
  const best = taken.toSorted((one, other) => one.rank - other.rank);
  return { entries: entriesAt(slots, best), total };
}

/** Returns the number of slots whose operation is visible. */
function countVisible(visible: Uint8Array): number {
  let count = 0;
  for (let slot = 0; slot < visible.length; slot += 1) count += visible[slot] ?? 0;
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
  const { entries: whole, total } = takeRanked(slots, ranks, most);
  if (query.isName || total >= maxWithPartly) return { whole, partly: [], total };
  const words = query.words.map((word) => costs.of(word));
  const scores = await scoreParts(words, countVisible(visible), slices);
  const partly = takeBest(slots, { ranks, scores }, maxWithPartly - total);
  return { whole, partly, total: total + partly.length };
}

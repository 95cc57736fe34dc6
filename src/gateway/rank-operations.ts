import type { ToolEntry } from "../catalog/entry.ts";
import { named, type IndexedOperation, type OperationSlots } from "./operation-slots.ts";
import type { SearchQuery } from "./search-query.ts";
import { notFound, type Costs, type WordCosts } from "./word-costs.ts";
import { fields } from "./word-index.ts";
import type { WorkSlices } from "./work-slices.ts";

/** The operations of an index, and how well each word of a query fits those that the caller sees. */
export interface Candidates {
  readonly slots: OperationSlots;
  /** By slot: 1 if the caller sees the operation. */
  readonly visible: Uint8Array;
  readonly costs: WordCosts;
  /** The most operations that are taken where all words fit. */
  readonly most: number;
}

/** Slots that are read in one step. */
const slotsPerStep = 8;

/** What a search has found. */
export interface Found {
  /** Operations that all words fit: the best first, and equally good ones by id; at most as many as the search asks for. */
  readonly whole: readonly ToolEntry[];
  /** A few that some words fit, the best first. Empty where there are enough of the others. */
  readonly partly: readonly ToolEntry[];
  /** The number of both, with those beyond the end of `whole`. */
  readonly total: number;
}

/** How many results there are at most where some fit only in part. */
const maxWithPartly = 10;

/** The cost of a stop word that an operation does not have: a little more than having it in the description. */
const lackOfStopWord = fields.length * 2 - 1;

/** How much it is worth that a word was found, by its cost: less in a worse place. */
const worth = Float64Array.from({ length: notFound + 1 }, (_none, cost) => (cost === notFound ? 0 : 4 / (4 + cost)));

/** Adds the costs of a word that an operation must have: without it, its rank is `notFound`. */
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

/** Ranks operations by their words, by slot: the costs of all words; `notFound` where one is missing or the operation is hidden. */
function rankByWords({ visible, costs }: Candidates, { words, stopWords }: SearchQuery): Uint8Array {
  const ranks = new Uint8Array(visible.length).fill(named.words);
  for (const word of words) addWord(ranks, costs.of(word));
  for (const word of stopWords) addStopWord(ranks, costs.of(word));
  return ranks;
}

/** How much operations are worth by the words that they have, by slot. A word counts for more, the fewer operations have it. */
async function scoreParts(words: readonly Costs[], seenCount: number, slices: WorkSlices): Promise<Float64Array> {
  const scores = new Float64Array(words.reduce((size, { length }) => Math.max(size, length), 0));
  for (const costs of words) {
    let having = 1;
    for (const cost of costs) if (cost !== notFound) having += 1;
    const weight = Math.log(1 + seenCount / having);
    for (let slot = 0; slot < costs.length; slot += 1) {
      scores[slot] = (scores[slot] ?? 0) + weight * (worth[costs[slot] ?? notFound] ?? 0);
    }
    await slices.spend(costs.length / slotsPerStep);
  }
  return scores;
}

/** Returns the operations of the highest scores, the best first: at most `count`, of at least half the highest score. */
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

/** Returns the operations of the best ranks, the best first and equally good ones in the given order: at most `count`. */
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
 * Sorts operations by how well they fit a query. The order is that of places: the id, the name, how the id begins, then words of the
 * name, the namespace, the tags and the description. Scores order only what lacks a word, since by them a rare word in a description
 * goes before a frequent one in a name.
 */
export async function rankOperations(candidates: Candidates, query: SearchQuery, slices: WorkSlices): Promise<Found> {
  const { slots, visible, costs, most } = candidates;
  const ranks = rankByWords(candidates, query);
  await slices.spend((ranks.length * (query.words.length + 1)) / slotsPerStep);
  // No name has a blank in it.
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

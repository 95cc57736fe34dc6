import type { ToolEntry } from "../catalog/entry.ts";
import { named, rankOfName } from "./indexed-operation.ts";
import type { NameLines } from "./name-lines.ts";
import type { SearchQuery } from "./search-query.ts";
import { nowhere, notFound, type Costs, type WordCosts } from "./word-costs.ts";
import type { VisibleSlots } from "./visible-slots.ts";
import { fields } from "./word-index.ts";
import type { WorkSlices } from "./work-slices.ts";

/** The operations of an index, and how well each word of a query fits those that the caller sees. */
export interface Candidates {
  readonly visible: VisibleSlots;
  /** The slots of all operations, by id. */
  readonly order: Uint32Array;
  /** The names of all operations. */
  readonly names: NameLines;
  readonly costs: WordCosts;
}

/** Steps to decide whether a caller sees an operation. */
const stepsPerCheck = 5;

/** What a search has found. */
export interface Found {
  /** Operations that all words fit: the best first, and equally good ones by id. */
  readonly whole: readonly ToolEntry[];
  /** A few that some words fit, the best first. Empty where there are enough of the others. */
  readonly partly: readonly ToolEntry[];
}

/** How many results there are at most where some fit only in part. */
const maxWithPartly = 10;

/** The cost of a stop word that an operation does not have: a little more than having it in the description. */
const lackOfStopWord = fields.length * 2 - 1;

/** How much it is worth that a word was found, by its cost: less in a worse place. */
const worth = Float64Array.from({ length: notFound + 1 }, (_none, cost) => (cost === notFound ? 0 : 4 / (4 + cost)));

/** The ranks of operations by their words, by slot: the costs of all words; `notFound` where one is missing. */
function rankByWords({ visible, costs }: Candidates, { words, stopWords }: SearchQuery): Uint8Array {
  const ranks = new Uint8Array(visible.slotCount).fill(named.words);
  for (const word of words) {
    const own = costs.of(word);
    if (own === nowhere) return ranks.fill(notFound);
    own.forEach((cost, slot) => {
      const rank = ranks[slot] ?? notFound;
      ranks[slot] = cost === notFound || rank === notFound ? notFound : rank + cost;
    });
  }
  for (const word of stopWords) {
    costs.of(word).forEach((cost, slot) => {
      const rank = ranks[slot] ?? notFound;
      if (rank !== notFound) ranks[slot] = rank + Math.min(cost, lackOfStopWord);
    });
  }
  return ranks;
}

/** Lowers the ranks of operations that a query names. */
function rankByNames(ranks: Uint8Array, { names, visible }: Candidates, text: string): void {
  // No name has a blank in it.
  if (/\s/u.test(text)) return;
  for (const one of names.startingWith(text)) {
    const rank = rankOfName(one, text);
    if (rank !== named.words && visible.has(one.slot)) ranks[one.slot] = rank;
  }
}

/** How much operations are worth by the words that they have, by slot. A word counts for more, the fewer operations have it. */
async function scoreParts(words: readonly Costs[], seenCount: number, slices: WorkSlices): Promise<Float64Array> {
  const scores = new Float64Array(words.reduce((size, { length }) => Math.max(size, length), 0));
  for (const costs of words) {
    const having = costs.reduce((count, cost) => (cost === notFound ? count : count + 1), 1);
    const weight = Math.log(1 + seenCount / having);
    costs.forEach((cost, slot) => {
      scores[slot] = (scores[slot] ?? 0) + weight * (worth[cost] ?? 0);
    });
    await slices.spend(costs.length * 2);
  }
  return scores;
}

/** Returns the slots of the highest scores, the best first: at most `count`, of at least half the highest score. */
function takeBest(slots: Uint32Array, scores: Float64Array, count: number): readonly number[] {
  const best: { readonly slot: number; readonly score: number }[] = [];
  for (const slot of slots) {
    const score = scores[slot] ?? 0;
    if (score <= (best[count - 1]?.score ?? 0)) continue;
    const behind = best.findIndex((one) => one.score < score);
    best.splice(behind === -1 ? best.length : behind, 0, { slot, score });
    if (best.length > count) best.pop();
  }
  const least = (best[0]?.score ?? 0) / 2;
  return best.filter(({ score }) => score >= least).map(({ slot }) => slot);
}

/**
 * Sorts operations by how well they fit a query. The order is that of places: the id, the name, how the id begins, then words of the
 * name, the namespace, the tags and the description. Scores order only what lacks a word, since by them a rare word in a description
 * goes before a frequent one in a name.
 */
export async function rankOperations(candidates: Candidates, query: SearchQuery, slices: WorkSlices): Promise<Found> {
  const { visible, order, costs } = candidates;
  const ranks = rankByWords(candidates, query);
  rankByNames(ranks, candidates, query.text);
  const ranked: ToolEntry[][] = Array.from({ length: notFound }, () => []);
  for (const slot of order) {
    const found = ranked[ranks[slot] ?? notFound];
    const entry = found && visible.at(slot);
    if (entry !== undefined) found?.push(entry);
  }
  const whole = ranked.flat();
  if (query.isName || whole.length >= maxWithPartly) return { whole, partly: [] };
  const words = query.words.map((word) => costs.of(word));
  await slices.spend(visible.slotCount * stepsPerCheck);
  const scores = await scoreParts(words, visible.count(), slices);
  const rest = order.filter((slot) => ranks[slot] === notFound);
  const best = takeBest(rest, scores, maxWithPartly - whole.length);
  return { whole, partly: best.flatMap((slot) => visible.at(slot) ?? []) };
}

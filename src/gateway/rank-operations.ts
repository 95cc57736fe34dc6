import type { ToolEntry } from "../catalog/entry.ts";
import { named, rankOfName, type IndexedOperation } from "./indexed-operation.ts";
import type { NameLines } from "./name-lines.ts";
import type { SearchQuery } from "./search-query.ts";
import { nowhere, notFound, type Costs, type WordCosts } from "./word-costs.ts";
import { fields } from "./word-index.ts";
import type { WorkSlices } from "./work-slices.ts";

/** The operations that a caller sees, by id, and how well each word of the query fits them. */
export interface Candidates {
  readonly seen: readonly IndexedOperation[];
  /** Those of all operations. */
  readonly names: NameLines;
  readonly costs: WordCosts;
}

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
function rankByWords({ words, stopWords }: SearchQuery, costs: WordCosts): Uint8Array {
  const ranks = new Uint8Array(costs.slotCount).fill(named.words);
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
function rankByNames(ranks: Uint8Array, { names, costs }: Candidates, text: string): void {
  // No name has a blank in it.
  if (/\s/u.test(text)) return;
  for (const one of names.startingWith(text)) {
    const rank = rankOfName(one, text);
    if (rank !== named.words && costs.isVisible(one.slot)) ranks[one.slot] = rank;
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

/** Returns the entries of the highest scores, the best first: at most `count`, of at least half the highest score. */
function takeBest(rest: readonly IndexedOperation[], scores: Float64Array, count: number): readonly ToolEntry[] {
  const best: { readonly entry: ToolEntry; readonly score: number }[] = [];
  for (const { entry, slot } of rest) {
    const score = scores[slot] ?? 0;
    if (score <= (best[count - 1]?.score ?? 0)) continue;
    const behind = best.findIndex((one) => one.score < score);
    best.splice(behind === -1 ? best.length : behind, 0, { entry, score });
    if (best.length > count) best.pop();
  }
  const least = (best[0]?.score ?? 0) / 2;
  return best.filter(({ score }) => score >= least).map(({ entry }) => entry);
}

/**
 * Sorts operations by how well they fit a query. The order is that of places: the id, the name, how the id begins, then words of the
 * name, the namespace, the tags and the description. Scores order only what lacks a word, since by them a rare word in a description
 * goes before a frequent one in a name.
 */
export async function rankOperations(candidates: Candidates, query: SearchQuery, slices: WorkSlices): Promise<Found> {
  const { seen, costs } = candidates;
  const ranks = rankByWords(query, costs);
  rankByNames(ranks, candidates, query.text);
  const ranked: ToolEntry[][] = Array.from({ length: notFound }, () => []);
  for (const { entry, slot } of seen) ranked[ranks[slot] ?? notFound]?.push(entry);
  const whole = ranked.flat();
  if (query.isName || whole.length >= maxWithPartly) return { whole, partly: [] };
  const words = query.words.map((word) => costs.of(word));
  const scores = await scoreParts(words, seen.length, slices);
  const rest = seen.filter(({ slot }) => ranks[slot] === notFound);
  return { whole, partly: takeBest(rest, scores, maxWithPartly - whole.length) };
}

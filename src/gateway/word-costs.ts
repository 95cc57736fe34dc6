import type { SearchQuery } from "./search-query.ts";
import type { VisibleSlots } from "./visible-slots.ts";
import { fields, type Postings, type TermMatch, type WordIndex } from "./word-index.ts";
import type { WorkSlices } from "./work-slices.ts";

/** The cost of a word that an operation does not have. */
export const notFound = 255;

/** The fewest letters of half a word. */
const minHalf = 3;

/** The most letters of a word that is searched as two. Longer words would cost a lookup for each of their letters. */
const maxDivided = 24;

/** Steps of a lookup: that of a misspelt word walks a part of all terms. */
const stepsPerLookup = 2_000;

/** Steps for an operation that has a term, with the decision whether the caller sees it. */
const stepsPerPosting = 4;

/** The operations and fields that one search reads. */
export interface SearchScope {
  readonly visible: VisibleSlots;
  /** Whether only words of the id count. */
  readonly isIdOnly: boolean;
}

/** The costs of a word by slot: `notFound`, or the lower the better. An operation beyond the end does not have the word. */
export type Costs = Uint8Array;

/** The costs of a word that no visible operation has. */
const nowhere: Costs = new Uint8Array();

/**
 * The costs of the words of one query. Every decision is made on the operations in scope alone: by a word that counts as found
 * because a hidden operation has it, a caller could tell what hidden operations say.
 */
export class WordCosts {
  readonly #index: WordIndex;
  readonly #scope: SearchScope;
  readonly #slices: WorkSlices;
  readonly #fieldCount: number;
  readonly #found = new Map<string, Costs>();

  constructor(index: WordIndex, scope: SearchScope, slices: WorkSlices) {
    this.#index = index;
    this.#scope = scope;
    this.#slices = slices;
    this.#fieldCount = scope.isIdOnly ? fields.indexOf("namespace") + 1 : fields.length;
  }

  /** Looks up all words of a query, once. Two neighbours count as one word too, and a word that is nowhere as two. */
  async find({ words, stopWords, pairs }: SearchQuery): Promise<void> {
    for (const word of words) await this.#lookUp(word, [word]);
    for (const word of stopWords) await this.#lookUp(word, [word]);
    if (this.#scope.isIdOnly) return;
    for (const pair of pairs) await this.#lookUp(pair.join(""), pair);
    for (const word of words) if (!this.#found.has(word)) await this.#divide(word);
  }

  /** Returns the costs of a word that was looked up. */
  of(word: string): Costs {
    return this.#found.get(word) ?? nowhere;
  }

  /** @param meant - the words of the query that an operation with `form` has. */
  async #lookUp(form: string, meant: readonly string[]): Promise<void> {
    await this.#slices.spend(stepsPerLookup);
    for (const match of this.#index.matches(form)) {
      for (const word of meant) this.#take(word, match);
      await this.#slices.spend(match.postings.size * meant.length * stepsPerPosting);
    }
  }

  #take(word: string, { postings, cost }: TermMatch): void {
    let costs = this.#found.get(word);
    // Not by `for`: that makes a pair of each posting, and a word may be in all operations.
    postings.forEach((place, slot) => {
      if (!this.#isInScope(slot, place)) return;
      costs ??= this.#add(word);
      costs[slot] = Math.min(costs[slot] ?? notFound, place * 2 + cost);
    });
  }

  /** Takes the first two parts of a word that one operation has both of, as they are. */
  async #divide(word: string): Promise<void> {
    if (word.length > maxDivided) return;
    for (let at = minHalf; at <= word.length - minHalf && !this.#found.has(word); at += 1) {
      const [left, right] = [this.#index.get(word.slice(0, at)), this.#index.get(word.slice(at))];
      if (left === undefined || right === undefined) continue;
      this.#takeBoth(word, left, right);
      await this.#slices.spend(left.size * stepsPerPosting);
    }
  }

  #takeBoth(word: string, left: Postings, right: Postings): void {
    for (const [slot, place] of left) {
      const worse = Math.max(place, right.get(slot) ?? notFound);
      if (!this.#isInScope(slot, worse)) continue;
      (this.#found.get(word) ?? this.#add(word))[slot] = worse * 2;
    }
  }

  #isInScope(slot: number, place: number): boolean {
    return place < this.#fieldCount && this.#scope.visible.has(slot);
  }

  #add(word: string): Costs {
    const costs = new Uint8Array(this.#scope.visible.slotCount).fill(notFound);
    this.#found.set(word, costs);
    return costs;
  }
}

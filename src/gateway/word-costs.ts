import type { SearchQuery } from "./search-query.ts";
import { fields, type Postings, type TermMatch, type WordIndex } from "./word-index.ts";
import type { WorkSlices } from "./work-slices.ts";

/** The cost of a word that an operation does not have. */
export const notFound = 255;

/** The fewest letters of half a word. */
const minHalf = 3;

/** The most letters of a word that is searched as two. Longer words would cost a lookup for each of their letters. */
const maxDivided = 24;

/** Steps of a lookup: that of a misspelt word walks a part of all terms. */
const stepsPerLookup = 4_000;

/** Operations of a term that are read in one step. */
const postingsPerStep = 8;

/** The operations and fields that one search reads. */
export interface WordScope {
  /** By slot: 1 if the caller sees the operation. */
  readonly visible: Uint8Array;
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

  /** Looks up all words of a query, once. Two neighbours count as one word too, and a word that is nowhere as two. */
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

  /** @param meant - the words of the query that an operation with `form` has. */
  async #lookUp(form: string, meant: readonly string[]): Promise<void> {
    await this.#slices.spend(stepsPerLookup);
    for (const match of this.#index.matches(form)) {
      for (const word of meant) this.#take(word, match);
      await this.#slices.spend((match.postings.length * meant.length) / postingsPerStep);
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

  /** Takes the first two parts of a word that one operation has both of, as they are. */
  async #divide(word: string): Promise<void> {
    if (word.length > maxDivided) return;
    for (let at = minHalf; at <= word.length - minHalf && !this.#found.has(word); at += 1) {
      const [left, right] = [this.#index.get(word.slice(0, at)), this.#index.get(word.slice(at))];
      if (left === undefined || right === undefined) continue;
      this.#takeBoth(word, left, right);
      await this.#slices.spend((left.length + right.length) / postingsPerStep);
    }
  }

  /** Walks both lists at once, since both are in the order of slots. */
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

  /** Returns the slot of an operation that is in scope with the field of the posting. */
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

import type SearchableMap from "minisearch/SearchableMap";
import { toIndexWords } from "./to-words.ts";

/** The fields that words are searched in, the best first. */
export const fields = ["name", "namespace", "tags", "description"] as const;

/** An operation as the index takes it: its slot, and the text of each field. */
export interface IndexedDocument extends Readonly<Record<(typeof fields)[number], string>> {
  readonly slot: number;
}

/** The operations that have a term: by slot, the place in `fields` of the best field with it. */
export type Postings = ReadonlyMap<number, number>;

/** A term that a word stands for. */
export interface TermMatch {
  readonly postings: Postings;
  /** Added to the cost of the field. */
  readonly cost: number;
}

/** Letters from which a word stands for every term that begins with it. */
const minPrefix = 3;

/** Letters from which a word may differ from a term by one letter. */
const minFuzzy = 5;

/** The costs of a term: the word itself, one that begins with it, and one that differs by a letter. */
const termCosts = { same: 0, prefix: 1, fuzzy: fields.length * 2 } as const;

/** The terms of all operations of a catalog. Says which operations have a term, and leaves who may see them to its user. */
export class WordIndex {
  readonly #terms: SearchableMap<Map<number, number>>;

  /** @param terms - an empty map, which the index then owns. */
  constructor(terms: SearchableMap<Map<number, number>>) {
    this.#terms = terms;
  }

  /** Adds an operation under a slot that is free. */
  add(document: IndexedDocument): void {
    for (const [place, field] of fields.entries()) {
      for (const term of toIndexWords(document[field])) {
        const postings = this.#terms.fetch(term, () => new Map<number, number>());
        // The best field comes first.
        if (!postings.has(document.slot)) postings.set(document.slot, place);
      }
    }
  }

  /** Removes an operation, given the same document that was added. */
  remove(document: IndexedDocument): void {
    for (const field of fields) {
      for (const term of toIndexWords(document[field])) {
        const postings = this.#terms.get(term);
        if (postings?.delete(document.slot) === true && postings.size === 0) this.#terms.delete(term);
      }
    }
  }

  /** Returns the operations that have exactly this term. */
  get(term: string): Postings | undefined {
    return this.#terms.get(term);
  }

  /** Iterates over the terms that a word stands for. A term may come more than once; then the lowest cost counts. */
  *matches(word: string): Iterable<TermMatch> {
    const same = this.#terms.get(word);
    if (same !== undefined) yield { postings: same, cost: termCosts.same };
    if (word.length >= minPrefix) {
      for (const postings of this.#terms.atPrefix(word).values()) {
        if (postings !== same) yield { postings, cost: termCosts.prefix };
      }
    }
    if (word.length >= minFuzzy) {
      for (const [postings] of this.#terms.fuzzyGet(word, 1).values()) {
        if (postings !== same) yield { postings, cost: termCosts.fuzzy };
      }
    }
  }
}

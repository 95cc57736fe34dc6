import type SearchableMap from "minisearch/SearchableMap";
import type { ToolEntry } from "../catalog/entry.ts";
import { nameOf, namespaceOf } from "./operation.ts";
import { toIndexWords } from "./search-query.ts";

/** The fields that are searched, best first. */
export const fields = ["name", "namespace", "tags", "description"] as const;

/** The operations with a term, ascending. A posting is a slot, and in its lowest bits the index of the best field with the term. */
export type Postings = readonly number[];

const fieldBits = 2;

/** Returns the slot of a posting. */
export function slotOf(posting: number): number {
  return posting >>> fieldBits;
}

/** Returns the field of a posting, as an index of {@link fields}. */
export function fieldOf(posting: number): number {
  return posting & ((1 << fieldBits) - 1);
}

/** A term that matches a word. */
export interface TermMatch {
  readonly postings: Postings;
  /** Added to the cost of the field. */
  readonly cost: number;
}

/** The minimum length of a word that matches every term that begins with it. */
const minPrefix = 3;

/** The minimum length of a word that matches terms with one other letter. */
const minFuzzy = 5;

/** The costs of a term: the word itself, a term that begins with it, and a term with one other letter. */
const termCosts = { same: 0, prefix: 1, fuzzy: fields.length * 2 } as const;

const otherBlank = /[^\S ]/u;

/** The maximum number of cached runs of characters. Descriptions share runs. */
const maxRuns = 20_000;

/** The terms of all operations, whether or not a caller may see them. */
export class WordIndex {
  readonly #terms: SearchableMap<number[]>;
  readonly #runs = new Map<string, readonly number[][]>();

  /** @param terms - an empty map, which the index then owns. */
  constructor(terms: SearchableMap<number[]>) {
    this.#terms = terms;
  }

  /** Adds an operation, whose slot must be higher than all before. */
  add({ id, title = "", description = "", tags = [] }: ToolEntry, slot: number): void {
    const first = slot << fieldBits;
    this.#addText(nameOf(id), first);
    this.#addText(namespaceOf(id), first + 1);
    for (const tag of tags) this.#addText(tag, first + 2);
    this.#addText(title, first + 3);
    this.#addText(description, first + 3);
  }

  /** Returns the operations with exactly this term. */
  get(term: string): Postings | undefined {
    return this.#terms.get(term);
  }

  /** Yields the terms that match a word. If a term comes more than once, the lowest cost counts. */
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

  #addText(text: string, posting: number): void {
    // To split by one character takes a fraction of the time.
    for (const run of otherBlank.test(text) ? text.split(/\s+/u) : text.split(" ")) {
      for (const postings of this.#runs.get(run) ?? this.#readRun(run)) {
        const last = postings.length === 0 ? undefined : postings[postings.length - 1];
        // The best field comes first, and only that one counts.
        if (last === undefined || slotOf(last) < slotOf(posting)) postings.push(posting);
      }
    }
  }

  #readRun(run: string): readonly number[][] {
    const lists = toIndexWords(run).map((term) => this.#terms.fetch(term, () => []));
    if (this.#runs.size === maxRuns) this.#runs.clear();
    this.#runs.set(run, lists);
    return lists;
  }
}

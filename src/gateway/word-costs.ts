import type MiniSearch from "minisearch";
import type { SearchQuery } from "./search-query.ts";
import { toIndexWords } from "./to-words.ts";

/** Where words are looked for, the best place first. */
export const fields = ["name", "namespace", "tags", "description"] as const;

type Field = (typeof fields)[number];

/** An operation as it is indexed: its number, and the text of each field. */
export interface IndexedDocument extends Readonly<Record<Field, string>> {
  readonly slot: number;
}

/** The cost of a word that an operation does not have. */
export const notFound = 255;

/** From how many letters on a word stands for all that begin with it. */
const minPrefix = 3;

/** From how many letters on a word may be misspelt by one letter. */
const minFuzzy = 5;

/** How a word may fit, the best first: as it is, as the beginning of another, or but for one letter. */
const asItIs = 0;
const asBeginning = 1;
const misspelt = fields.length * 2;

/** The fewest letters of half a word. */
const minHalf = 3;

const maxRemembered = 256;

/** Whether one letter put in, left out or replaced makes one text the other. */
function isOneEdit(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  return short.slice(short.length === long.length ? at + 1 : at) === long.slice(at + 1);
}

/** The cost of finding `word` by `term`, besides that of the field. */
function costOfTerm(term: string, word: string): number {
  if (term === word) return asItIs;
  if (word.length >= minPrefix && term.startsWith(word)) return asBeginning;
  return word.length >= minFuzzy && isOneEdit(term, word) ? misspelt : notFound;
}

/** Whether a word is looked for by `word`: as it is, as its beginning, or but for one letter. */
export function fitsTerm(term: string, word: string): boolean {
  return costOfTerm(term, word) !== notFound;
}

/** The cost of a word where the index has found it: that of the best term in the best field. */
function costOf(match: Readonly<Record<string, readonly string[]>>, word: string): number {
  let best = notFound;
  for (const [term, found] of Object.entries(match)) {
    // The index knows no other fields.
    for (const field of found) best = Math.min(best, fields.indexOf(field as Field) * 2 + costOfTerm(term, word));
  }
  return best;
}

/** The same for an operation whose words are `words`, by field. */
function costIn(words: readonly (readonly string[])[], word: string): number {
  let best = notFound;
  for (const [place, own] of words.entries()) {
    for (const term of own) best = Math.min(best, place * 2 + costOfTerm(term, word));
  }
  return best;
}

/** The costs of a word that no operation has: one object for all, since most pairs of words are such. */
const nowhere: Uint8Array<ArrayBuffer> = new Uint8Array();

function isAnywhere(costs: Uint8Array): boolean {
  return costs !== nowhere && costs.some((cost) => cost !== notFound);
}

/** The least cost of each slot. */
function leastOf([first = new Uint8Array(), ...others]: readonly Uint8Array[]): Uint8Array {
  let least = first;
  for (const other of others) least = least.map((cost, slot) => Math.min(cost, other[slot] ?? notFound));
  return least;
}

/**
 * How well words fit each operation of an index, by its slot: `notFound`, or the less the better. Remembers words, since a few of
 * them are in almost everything and take long to be looked up: its owner says what the index has gained and lost.
 */
export class WordCosts {
  readonly #index: MiniSearch<IndexedDocument>;
  readonly #known = new Map<string, Uint8Array<ArrayBuffer>>();
  /** For how many slots there is room. */
  #room = 0;

  constructor(index: MiniSearch<IndexedDocument>) {
    this.#index = index;
  }

  /** The index has an operation more. */
  add(document: IndexedDocument): void {
    if (document.slot >= this.#room) this.#grow(document.slot + 1);
    if (this.#known.size === 0) return;
    const words = fields.map((field) => toIndexWords(document[field]));
    for (const [word, costs] of this.#known) {
      const cost = costIn(words, word);
      if (costs !== nowhere) costs[document.slot] = cost;
      else if (cost !== notFound) this.#known.set(word, this.#none().fill(cost, document.slot, document.slot + 1));
    }
  }

  /** The index has an operation less. */
  remove({ slot }: IndexedDocument): void {
    for (const costs of this.#known.values()) if (costs !== nowhere) costs[slot] = notFound;
  }

  /**
   * The costs of each word of a query. Two neighbours cost what they cost as one word, and a word that is nowhere what its two
   * halves cost, where that is less.
   */
  of({ words, pairs }: Pick<SearchQuery, "words" | "pairs">): readonly Uint8Array[] {
    return words.map((word) => {
      const joined = pairs.filter((pair) => pair.includes(word)).map(([left, right]) => this.#ofWord(left + right));
      const found = [this.#ofWord(word), ...joined].filter(isAnywhere);
      return found.length === 0 ? this.#ofHalves(word) : leastOf(found);
    });
  }

  #ofHalves(word: string): Uint8Array {
    for (let at = minHalf; at <= word.length - minHalf; at += 1) {
      const [left, right] = [this.#lookUp(word.slice(0, at)), this.#lookUp(word.slice(at))];
      if (left === nowhere || right === nowhere) continue;
      const both = left.map((cost, slot) => Math.max(cost, right[slot] ?? notFound));
      if (isAnywhere(both)) return both;
    }
    return nowhere;
  }

  #grow(slots: number): void {
    this.#room = Math.ceil(slots * 1.25);
    for (const [word, costs] of this.#known) {
      if (costs === nowhere) continue;
      const larger = this.#none();
      larger.set(costs);
      this.#known.set(word, larger);
    }
  }

  #none(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#room).fill(notFound);
  }

  #ofWord(word: string): Uint8Array<ArrayBuffer> {
    const known = this.#known.get(word);
    this.#known.delete(word);
    const costs = known ?? this.#lookUp(word, true);
    this.#known.set(word, costs);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxRemembered) break;
      this.#known.delete(oldest);
    }
    return costs;
  }

  /** @param forgives - whether other words than just this one are looked for. @default false */
  #lookUp(word: string, forgives = false): Uint8Array<ArrayBuffer> {
    const costs = this.#none();
    let isFound = false;
    this.#index.search(word, {
      tokenize: (text) => [text],
      prefix: forgives && word.length >= minPrefix,
      fuzzy: forgives && word.length >= minFuzzy && 1,
      filter({ id, match }) {
        // A slot: that is what documents are known by.
        costs[id as number] = costOf(match, word);
        isFound = true;
        // Nothing is kept, so that nothing is sorted either: the order is not that of its scores.
        return false;
      },
    });
    return isFound ? costs : nowhere;
  }
}

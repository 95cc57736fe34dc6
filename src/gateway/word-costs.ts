import type MiniSearch from "minisearch";
import { toWords, type Chunk } from "./to-words.ts";

/** Where words are looked for, the best place first. */
export const fields = ["name", "namespace", "tags", "description"] as const;

type Field = (typeof fields)[number];

/** An operation as it is indexed: its number, and the text of each field. */
export interface IndexedDocument extends Readonly<Record<Field, string>> {
  readonly slot: number;
}

/** What it costs an operation not to have a word, or not all words: it is not found. */
export const notFound = 255;

/** From how many letters on a word stands for all that begin with it. */
const minPrefix = 3;

const maxRemembered = 256;

/** How badly a word fits where it was found: by the best of the fields, and there a word that only begins with it is worse. */
function costOf(match: Readonly<Record<string, readonly string[]>>, word: string): number {
  let best = notFound;
  for (const [term, found] of Object.entries(match)) {
    for (const field of found) {
      // The index knows no other fields.
      const place = fields.indexOf(field as Field) * 2 + (term === word ? 0 : 1);
      if (place < best) best = place;
    }
  }
  return best;
}

/** How badly a word fits an operation: as {@link costOf} what the index finds. */
function costIn(words: readonly ReadonlySet<string>[], word: string): number {
  for (const [place, own] of words.entries()) {
    if (own.has(word)) return place * 2;
    if (word.length < minPrefix) continue;
    for (const one of own) if (one.startsWith(word)) return place * 2 + 1;
  }
  return notFound;
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
    const words = fields.map((field) => new Set(toWords(document[field])));
    for (const [word, costs] of this.#known) costs[document.slot] = costIn(words, word);
  }

  /** The index has an operation less. */
  remove({ slot }: IndexedDocument): void {
    for (const costs of this.#known.values()) costs[slot] = notFound;
  }

  /** The costs of a chunk: those of itself, or of the worst of its parts where that is better. */
  of({ whole, parts }: Chunk): Uint8Array {
    const costs = this.#ofWord(whole);
    if (parts.length === 0) return costs;
    const all = parts.map((part) => this.#ofWord(part));
    return costs.map((cost, slot) => Math.min(cost, Math.max(...all.map((part) => part[slot] ?? notFound))));
  }

  #grow(slots: number): void {
    this.#room = Math.ceil(slots * 1.25);
    for (const [word, costs] of this.#known) {
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
    const costs = known ?? this.#lookUp(word);
    this.#known.set(word, costs);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxRemembered) break;
      this.#known.delete(oldest);
    }
    return costs;
  }

  #lookUp(word: string): Uint8Array<ArrayBuffer> {
    const costs = this.#none();
    this.#index.search(word, {
      tokenize: (text) => [text],
      prefix: word.length >= minPrefix,
      filter({ id, match }) {
        // A slot: that is what documents are known by.
        costs[id as number] = costOf(match, word);
        // Nothing is kept, so that nothing is sorted either: the order is not that of its scores.
        return false;
      },
    });
    return costs;
  }
}

import type { IndexedOperation } from "./indexed-operation.ts";

/** The names of all operations in one text, since one search in a long text is faster than thousands in short ones. */
export class NameLines {
  readonly #ordered: readonly IndexedOperation[];
  readonly #text: string;
  /** Where the names of each operation end. */
  readonly #ends: readonly number[];

  constructor(ordered: readonly IndexedOperation[]) {
    let end = 0;
    this.#ordered = ordered;
    this.#text = ordered.map(({ lines }) => lines).join("");
    this.#ends = ordered.map(({ lines }) => (end += lines.length));
  }

  /** Visits the operations with a name that begins with `text`. */
  eachStartingWith(text: string, visit: (operation: IndexedOperation) => void): void {
    const line = `\n${text}`;
    let place = -1;
    for (let at = this.#text.indexOf(line); at !== -1; at = this.#text.indexOf(line, this.#ends[place])) {
      place = this.#placeOf(at, place + 1);
      const one = this.#ordered[place];
      if (one !== undefined) visit(one);
    }
  }

  /** Returns the index of the operation whose names stand at an offset, given the first that it may be. */
  #placeOf(offset: number, first: number): number {
    // Neighbours often begin alike.
    if ((this.#ends[first] ?? 0) > offset) return first;
    let low = first + 1;
    let high = this.#ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle] ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

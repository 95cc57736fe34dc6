import { SurfaceError } from "../errors.ts";

/** What a handler did up to its first question, when it was run to see that. */
export interface Rehearsal {
  /** The questions that it came to, by key. */
  readonly opened: ReadonlyMap<string, { readonly digest: string }>;
  /** What it called, by place: with the id of it. */
  readonly made: ReadonlyMap<string, string>;
}

/** Holds what a handler does against what it did before. */
export class Rehearsed {
  readonly #rehearsal: Rehearsal;
  readonly #made = new Set<string>();
  #hasAsked = false;

  constructor(rehearsal: Rehearsal) {
    this.#rehearsal = rehearsal;
  }

  /** It calls something: what it did not, when it was run before, as an error for its author. */
  made(place: string, id: string): SurfaceError | undefined {
    if (this.#hasAsked || this.#rehearsal.made.has(place)) {
      this.#made.add(place);
      return undefined;
    }
    return this.#toError(`calls "${id}" with arguments that it did not call it with the first time`);
  }

  /** It asks something, that has no answer yet. */
  asked(key: string, digest: string): SurfaceError | undefined {
    if (this.#hasAsked) return undefined;
    this.#hasAsked = true;
    const before = this.#rehearsal.opened.get(key);
    if (before === undefined) return this.#toError(`asks "${key}", which it did not ask the first time`);
    return before.digest === digest ? undefined : this.#toError(`asks something else under "${key}"`);
  }

  /** It has come to its end. */
  ended(): SurfaceError | undefined {
    if (this.#hasAsked) return undefined;
    const [key = ""] = this.#rehearsal.opened.keys();
    return this.#toError(`does not ask "${key}", which it asked the first time`);
  }

  #toError(what: string): SurfaceError {
    const missing = [...this.#rehearsal.made].find(([place]) => !this.#made.has(place))?.[1];
    const also = missing === undefined ? "" : `, nor did it call "${missing}" as before`;
    return new SurfaceError(
      "CONTRADICTION",
      `Rehearsing a handler that asks: run again, it ${what}${also}, and must do the same each time up to its first question`,
    );
  }
}

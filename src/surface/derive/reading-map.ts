import { SurfaceError } from "../../errors.ts";
import { Unchanged, Unmade } from "../pushed.ts";
import type { Reading, Staleness } from "../reading.ts";

/** Runs a function of the author's that makes values; what it throws says nothing about upstream. */
export function runMade<TResult>(make: () => TResult): TResult {
  try {
    return make();
  } catch (cause) {
    throw new SurfaceError("INVALID_OUTPUT", "Deriving a value: the function that makes it has thrown", { cause });
  }
}

/** How readings are mapped. */
export interface MapTerms<TValue, TOut> {
  map(value: TValue): TOut;
  /** Whether a value is to be seen at all. */
  passes(value: TValue): boolean;
}

interface Made<TOut> {
  readonly from: unknown;
  readonly out: TOut;
}

/** A reading of a value, with why it is stale where it is. */
export function toReadingOf<TValue>(value: TValue, stale: Staleness | undefined): Reading<TValue> {
  return stale === undefined ? { value } : { value, stale };
}

/**
 * Maps the readings of one iteration. In the place of a value that does not pass the one before it stands, also one of an
 * iteration before; that upstream went stale with it, or came back, is told all the same.
 */
export class ReadingMap<TValue, TOut> {
  readonly #terms: MapTerms<TValue, TOut>;
  #made: Made<TOut> | undefined;
  #stale: Staleness | undefined;
  /** Whether the next is to be told whatever it says: nothing was before it, or that could not be made. */
  #isUntold = true;

  constructor(terms: MapTerms<TValue, TOut>) {
    this.#terms = terms;
  }

  /** What is to be seen after a reading: nothing where nothing is new, and that there is no value where making it failed. */
  frameOf({ value, stale }: Reading<TValue>): Reading<TOut> | Unchanged | Unmade | undefined {
    const isMoved = this.#isUntold || this.#stale !== stale;
    this.#isUntold = true;
    this.#stale = stale;
    try {
      const isMade = this.#make(value);
      this.#isUntold = false;
      return isMade || isMoved ? this.#shown(stale) : undefined;
    } catch (cause) {
      // Nothing in it throws anything else.
      return new Unmade(cause as SurfaceError);
    }
  }

  /** As {@link frameOf}, of the only reading. @throws SurfaceError `INVALID_OUTPUT` for what the author's functions throw. */
  of({ value, stale }: Reading<TValue>): Reading<TOut> | Unchanged {
    this.#make(value);
    return this.#shown(stale);
  }

  /** Whether there is something that was not there before. */
  #make(value: TValue): boolean {
    const isNew = this.#made === undefined || !Object.is(this.#made.from, value);
    if (!isNew || !runMade(() => this.#terms.passes(value))) return false;
    this.#made = { from: value, out: runMade(() => this.#terms.map(value)) };
    return true;
  }

  #shown(stale: Staleness | undefined): Reading<TOut> | Unchanged {
    return this.#made === undefined ? new Unchanged(stale) : toReadingOf(this.#made.out, stale);
  }
}

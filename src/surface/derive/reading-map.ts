import { SurfaceError } from "../../errors.ts";
import { Unmade } from "../pushed.ts";
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
 * Maps the readings of one iteration. In the place of a value that does not pass the one before it stands; that upstream
 * went stale with it, or came back, is told all the same.
 */
export class ReadingMap<TValue, TOut> {
  readonly #terms: MapTerms<TValue, TOut>;
  #made: Made<TOut> | undefined;
  #stale: Staleness | undefined;
  #isMissing = false;

  constructor(terms: MapTerms<TValue, TOut>) {
    this.#terms = terms;
  }

  /** What is to be seen after a reading: nothing where nothing is new, and that there is no value where making it failed. */
  frameOf(reading: Reading<TValue>): Reading<TOut> | Unmade | undefined {
    try {
      return this.of(reading);
    } catch (cause) {
      // The next reading is to be told whatever it says: this one was not.
      this.#isMissing = true;
      // Nothing in it throws anything else.
      return new Unmade(cause as SurfaceError);
    }
  }

  /** As {@link frameOf}. @throws SurfaceError `INVALID_OUTPUT` for what the author's functions throw. */
  of({ value, stale }: Reading<TValue>): Reading<TOut> | undefined {
    const isNew = this.#made === undefined || !Object.is(this.#made.from, value);
    const passes = isNew && runMade(() => this.#terms.passes(value));
    if (passes) this.#made = { from: value, out: runMade(() => this.#terms.map(value)) };
    const isMoved = this.#stale !== stale || this.#isMissing;
    this.#stale = stale;
    this.#isMissing = false;
    if (this.#made === undefined || !(passes || isMoved)) return undefined;
    return toReadingOf(this.#made.out, stale);
  }
}

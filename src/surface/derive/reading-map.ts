import { SurfaceError } from "../../errors.ts";
import { isRelayed } from "../relayed.ts";
import { InvalidFrame, NotModified, type PushedFrame, type Reading, type Staleness } from "../reading.ts";

/** Runs a function of the author. @throws SurfaceError `INVALID_OUTPUT` with its error as the cause, so that it is not taken for a failure of upstream. */
function runAuthorCode<TResult>(run: () => TResult): TResult {
  try {
    return run();
  } catch (cause) {
    if (isRelayed(cause)) throw cause;
    throw new SurfaceError("INVALID_OUTPUT", "Cannot derive a value: the function of the author threw", { cause });
  }
}

/** Functions of the author that {@link ReadingMap} applies to values. */
export interface ValueMap<TValue, TOut> {
  map(value: TValue): TOut;
  /** Returns true if readers see the value. Otherwise the value before it stays. */
  passes(value: TValue): boolean;
}

/** Maps the readings of one iteration. A value that does not pass leaves the one before it; a change of staleness is still announced. */
export class ReadingMap<TValue, TOut> {
  readonly #by: ValueMap<TValue, TOut>;
  #made: { readonly from: unknown; readonly out: TOut } | undefined;
  #stale: Staleness | undefined;
  /** Whether the next frame is announced in any case: it is the first, or the one before could not be made. */
  #mustTell = true;

  constructor(by: ValueMap<TValue, TOut>) {
    this.#by = by;
  }

  /** Returns the frame of a reading: `undefined` if nothing has changed, {@link InvalidFrame} if the author's code threw. */
  frameOf({ value, stale }: Reading<TValue>): PushedFrame<TOut> | undefined {
    const isNews = this.#mustTell || this.#stale !== stale;
    this.#mustTell = true;
    this.#stale = stale;
    try {
      const isMade = this.#make(value);
      this.#mustTell = false;
      return isMade || isNews ? this.#frame(stale) : undefined;
    } catch (cause) {
      // As runAuthorCode() throws.
      return new InvalidFrame(cause as SurfaceError);
    }
  }

  of({ value, stale }: Reading<TValue>): Reading<TOut> | NotModified {
    this.#make(value);
    return this.#frame(stale);
  }

  #make(value: TValue): boolean {
    const isNew = this.#made === undefined || !Object.is(this.#made.from, value);
    if (!isNew || !runAuthorCode(() => this.#by.passes(value))) return false;
    this.#made = { from: value, out: runAuthorCode(() => this.#by.map(value)) };
    return true;
  }

  #frame(stale: Staleness | undefined): Reading<TOut> | NotModified {
    return this.#made === undefined ? new NotModified(stale) : { value: this.#made.out, ...(stale && { stale }) };
  }
}

/** Maps the readings of an iteration, and leaves out those that change nothing. */
export async function* mapReadings<TValue, TOut>(
  readings: AsyncIterable<Reading<TValue>>,
  map: ReadingMap<TValue, TOut>,
): AsyncGenerator<PushedFrame<TOut>> {
  for await (const reading of readings) {
    const frame = map.frameOf(reading);
    if (frame !== undefined) yield frame;
  }
}

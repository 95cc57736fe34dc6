import type { SurfaceError } from "../errors.ts";
import type { Reading } from "./reading.ts";

/** By which an implementation is known whose values come by and by. */
export const kPushed: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.pushed");

/** Stands for a value that could not be made of what came: as one that does not fit its schema. */
export class Unmade {
  /** The fault, for the log. */
  readonly cause: SurfaceError;

  constructor(cause: SurfaceError) {
    this.cause = cause;
  }
}

/** Where a {@link PushedSource} comes from. */
export interface PushedOrigin<TValue> {
  /**
   * Its values, from the one now: opened with the first reader, and ended with the last by `return()`, whose promise is
   * waited for. May end and may fail; it is opened again while somebody cares.
   */
  open(signal: AbortSignal): AsyncIterable<Reading<TValue> | Unmade>;
  /** The value now, where that takes less than to open it. Default: the first value of what `open` gives. */
  read?(signal: AbortSignal): Promise<Reading<TValue>>;
}

/**
 * What implements a cell whose first value has to be waited for, such as one that is derived from a cell of another
 * process. Nobody is shown a value that it has not given: a first read waits, a value that it gave stands until the next,
 * and is marked as stale while there can be none.
 */
export interface PushedSource<TValue> {
  readonly [kPushed]: PushedOrigin<TValue>;
}

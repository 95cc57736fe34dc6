import type { SurfaceError } from "../errors.ts";
import type { Reading, Staleness } from "./reading.ts";

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

/** Says that the value before stands, though upstream has spoken: the first is waited for on, where there was none. */
export class Unchanged {
  /** Why that value is not known to be the newest, where it is not. */
  readonly stale: Staleness | undefined;

  constructor(stale: Staleness | undefined) {
    this.stale = stale;
  }
}

/** What a {@link PushedSource} gives. */
export type PushedFrame<TValue> = Reading<TValue> | Unchanged | Unmade;

/** Where a {@link PushedSource} comes from. */
export interface PushedOrigin<TValue> {
  /**
   * Its values, from the one now: opened with the first reader, and ended with the last by `return()`, whose promise is
   * waited for. May end and may fail; it is opened again while somebody cares.
   */
  open(signal: AbortSignal): AsyncIterable<PushedFrame<TValue>>;
  /** The value now, where that takes less than to open it. Default: the first value of what `open` gives. */
  read?(signal: AbortSignal): Promise<PushedFrame<TValue>>;
  /** Whether it is to be read also while it is open. Default: `true`. */
  readonly isReadWhileOpen?: boolean;
}

/**
 * What implements a cell whose first value has to be waited for, such as one that is derived from a cell of another
 * process. Nobody is shown a value that it has not given: a first read waits, a value that it gave stands until the next,
 * and is marked as stale while there can be none.
 */
export interface PushedSource<TValue> {
  readonly [kPushed]: PushedOrigin<TValue>;
}

/** By which an implementation is known whose keys and items come by and by. */
export const kPushedCollection: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.pushed-collection");

/**
 * Where a {@link PushedCollection} comes from. What `watch…` returns begins with what is now, is ended by `return()`, whose
 * promise is waited for, may end and may fail, and is opened again while somebody cares.
 */
export interface CollectionOrigin<TKey, TAsked, TValue> {
  readonly keys: (signal: AbortSignal) => Promise<PushedFrame<readonly TKey[]>>;
  readonly watchKeys: (signal: AbortSignal) => AsyncIterable<PushedFrame<readonly TKey[]>>;
  /** `undefined` where there is no such item. */
  readonly item: (key: TAsked, signal: AbortSignal) => Promise<PushedFrame<TValue | undefined>>;
  readonly watchItem: (key: TAsked, signal: AbortSignal) => AsyncIterable<PushedFrame<TValue | undefined>>;
}

/**
 * What implements a collection whose keys and items have to be waited for, such as one that is derived from a collection
 * of another process. `TKey` is what it lists, `TAsked` what it is asked for by.
 */
export interface PushedCollection<TKey, TAsked, TValue> {
  readonly [kPushedCollection]: CollectionOrigin<TKey, TAsked, TValue>;
}

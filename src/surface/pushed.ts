import type { SurfaceError } from "../errors.ts";
import type { Reading, Staleness } from "./reading.ts";

/** The property that marks a {@link PushedSource}. */
export const kPushed: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.pushed");

/** The property that marks a {@link PushedCollection}. */
export const kPushedCollection: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.pushed-collection");

/** A frame from which no value could be made, for example because it does not fit its schema. */
export class InvalidFrame {
  /** The error for the log. */
  readonly cause: SurfaceError;

  constructor(cause: SurfaceError) {
    this.cause = cause;
  }
}

/** A frame that leaves the previous value in place. Does not end the wait for a first value. */
export class NotModified {
  /** The staleness of the previous value; `undefined` if it is the newest. */
  readonly stale: Staleness | undefined;

  constructor(stale: Staleness | undefined) {
    this.stale = stale;
  }
}

/** A frame of a {@link PushedSource}. */
export type PushedFrame<TValue> = Reading<TValue> | NotModified | InvalidFrame;

/** The origin of the values of a {@link PushedSource}. */
export interface PushedOrigin<TValue> {
  /**
   * Returns the values, beginning with the current one. Called for the first reader; `return()` is called and awaited after the
   * last. The iteration may end and may fail: it is opened again while there are readers.
   */
  open(signal: AbortSignal): AsyncIterable<PushedFrame<TValue>>;
  /** Returns the current value, if that is cheaper than `open`. @default the first value of `open` */
  read?(signal: AbortSignal): Promise<PushedFrame<TValue>>;
  /** Whether `read` is also called while the iteration is open. @default true */
  readonly isReadWhileOpen?: boolean;
}

/**
 * The implementation of a cell whose first value takes time, such as a cell that is derived from one of another process. A first
 * read waits for a value. A value stands until the next, and is marked as stale while no newer value can come.
 */
export interface PushedSource<TValue> {
  readonly [kPushed]: PushedOrigin<TValue>;
}

/**
 * The origin of the items of a {@link PushedCollection}. An iteration of `watch…` begins with the current state; its `return()`
 * is called and awaited after the last reader. It may end and may fail: it is opened again while there are readers.
 */
export interface CollectionOrigin<TKey, TAsked, TValue> {
  readonly keys: (signal: AbortSignal) => Promise<PushedFrame<readonly TKey[]>>;
  readonly watchKeys: (signal: AbortSignal) => AsyncIterable<PushedFrame<readonly TKey[]>>;
  /** `undefined` for an absent item. */
  readonly item: (key: TAsked, signal: AbortSignal) => Promise<PushedFrame<TValue | undefined>>;
  readonly watchItem: (key: TAsked, signal: AbortSignal) => AsyncIterable<PushedFrame<TValue | undefined>>;
}

/**
 * The implementation of a collection whose keys and items take time, such as a collection that is derived from one of another
 * process. `TKey` is the type of a listed key, `TAsked` of a requested key.
 */
export interface PushedCollection<TKey, TAsked, TValue> {
  readonly [kPushedCollection]: CollectionOrigin<TKey, TAsked, TValue>;
}

import type { SurfaceError } from "../errors.ts";
import type { Reading, Staleness } from "./reading.ts";

/** The property that marks a {@link PushedSource}. */
export const kPushed: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.pushed");

/** The property that marks a {@link PushedCollection}. */
export const kPushedCollection: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.pushed-collection");

/** A frame from which no value could be made, for example because it does not fit its schema. */
export class InvalidFrame {
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
  /** Returns the values, from the current one. Opened for the first reader, ended with the last, and opened again if it ends or fails. */
  open(signal: AbortSignal): AsyncIterable<PushedFrame<TValue>>;
  /** Returns the current value, if that is cheaper than `open`. @default the first value of `open` */
  read?(signal: AbortSignal): Promise<PushedFrame<TValue>>;
  /** Whether `read` is also called while the iteration is open. @default true */
  readonly isReadWhileOpen?: boolean;
}

/** The implementation of a cell whose first value takes time. A value stands until the next, marked stale if none can come. */
export interface PushedSource<TValue> {
  readonly [kPushed]: PushedOrigin<TValue>;
}

/** The origin of a {@link PushedCollection}. Its iterations begin with the current state, and are opened again for readers. */
export interface CollectionOrigin<TKey, TAsked, TValue> {
  readonly keys: (signal: AbortSignal) => Promise<PushedFrame<readonly TKey[]>>;
  readonly watchKeys: (signal: AbortSignal) => AsyncIterable<PushedFrame<readonly TKey[]>>;
  /** `undefined` for an absent item. */
  readonly item: (key: TAsked, signal: AbortSignal) => Promise<PushedFrame<TValue | undefined>>;
  readonly watchItem: (key: TAsked, signal: AbortSignal) => AsyncIterable<PushedFrame<TValue | undefined>>;
}

/** The implementation of a collection whose keys and items take time. `TKey` is the type of a listed key, `TAsked` of a requested key. */
export interface PushedCollection<TKey, TAsked, TValue> {
  readonly [kPushedCollection]: CollectionOrigin<TKey, TAsked, TValue>;
}

import type { SurfaceError } from "../errors.ts";

/** The reason why a value may not be the newest. Later versions may add reasons. */
export interface Staleness {
  /** `lost`: the source failed or cannot be reached. `invalid`: a newer value did not fit its schema. `ended`: it ended, perhaps early. */
  readonly reason: "lost" | "invalid" | "ended";
  /** The start of this state, ISO 8601. */
  readonly since: string;
}

/** A value, and whether it may be stale. */
export interface Reading<TValue = unknown> {
  readonly value: TValue;
  /** Present if the value may not be the newest. */
  readonly stale?: Staleness;
}

/** A stale value on a channel, in place of the value. Clients unwrap it: `get` returns the value, `reading` a {@link Reading}. */
export class Stale {
  readonly value: unknown;
  readonly staleness: Staleness;

  constructor(value: unknown, staleness: Staleness) {
    this.value = value;
    this.staleness = staleness;
  }
}

/** Returns the value of an answer, without its staleness. */
export function plainValueOf(answer: unknown): unknown {
  return answer instanceof Stale ? answer.value : answer;
}

/** Returns the value of an answer, with its staleness. */
export function toReading(answer: unknown): Reading {
  return answer instanceof Stale ? { value: answer.value, stale: answer.staleness } : { value: answer };
}

/** Returns a reading as an answer of a channel. The inverse of {@link toReading}. */
export function fromReading({ value, stale }: Reading): unknown {
  return stale === undefined ? value : new Stale(value, stale);
}

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

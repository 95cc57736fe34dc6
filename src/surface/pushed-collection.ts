import type { PushedFrame } from "./pushed.ts";

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

/**
 * A value that can be read and watched. Nanostores atoms fit as they are.
 *
 * Each read takes the value as it is at that time. Watchers are told of another value only: one that is `Object.is`-equal
 * to the one before is no change to them, whatever was changed within it. A source whose values are objects puts a new
 * one in the place of the old.
 */
export interface Source<TValue> {
  /** The value now. */
  get(): TValue;
  /**
   * Calls `fn` after each change; calling it at once with the value now is allowed too. Returns what stops it.
   */
  subscribe(fn: (value: TValue) => void): () => void;
}

/** A source that can be written to, and what {@link cellSource} returns. */
export interface WritableSource<TValue> extends Source<TValue> {
  /**
   * Replaces the value. Setting what `Object.is` equal is no change. Every listener is told, also when one throws; the
   * first error is then thrown to the caller, with the value set.
   */
  set(value: TValue): void;
}

/**
 * Makes a source that holds one value in memory.
 *
 * @example
 * ```ts
 * const count = cellSource(0);
 * count.set(count.get() + 1);
 * ```
 */
export function cellSource<TValue>(initial: TValue): WritableSource<TValue> {
  let current = initial;
  const listeners = new Set<(value: TValue) => void>();
  const announce = (value: TValue): void => {
    const faults: unknown[] = [];
    for (const listener of [...listeners]) {
      // A listener that set another value has announced that one to all: this one is not to come after it.
      if (!Object.is(value, current)) break;
      // Another listener may have ended this one.
      if (!listeners.has(listener)) continue;
      try {
        listener(value);
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];
  };
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      announce(value);
    },
    subscribe(fn) {
      // A wrapper of its own, so that subscribing one function twice gives two subscriptions.
      const listener = (value: TValue): void => fn(value);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** What changed in a collection: keys that were set, keys that are gone. */
export interface CollectionChange<TKey> {
  readonly set: readonly TKey[];
  readonly removed: readonly TKey[];
}

/**
 * A collection that is read key by key, for those too large to hand over as one map. As with a {@link Source}, an item
 * that is changed in place is seen by reads and by no watcher.
 */
export interface KeyedSource<TKey, TValue> {
  /** The keys now. */
  keys(): Iterable<TKey>;
  /** The item now, or `undefined` where there is none. */
  get(key: TKey): TValue | undefined;
  /** Calls `fn` after each change. Returns what stops it. */
  subscribe(fn: (change: CollectionChange<TKey>) => void): () => void;
}

import { numberFrom, withDefault, type Option, type OptionFields } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";

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

/** A value, or a promise of it. A query of a database client that has a `then()` is one too. */
export type Later<TValue> = TValue | PromiseLike<TValue>;

/** What a source receives with each read. */
export interface SourceUse {
  /** Fires when the reader leaves, the deadline of the read passes, or the surface closes. */
  readonly signal: AbortSignal;
}

/** When a source that has no `subscribe` is read again. */
export interface PollOptions {
  /**
   * Milliseconds from the end of a read to the next, while the source is watched; from 10 to 3,600,000. A source that has
   * `subscribe` is not polled.
   *
   * @default 2_000
   */
  readonly pollMs?: number;
}

/**
 * A value that is read from somewhere else, such as a database. Every read calls `get`. A source without `subscribe` is
 * polled while it is watched. Watchers are told of values that differ in their content.
 */
export interface AsyncSource<TValue> extends PollOptions {
  /** The value now. */
  get(use: SourceUse): Later<TValue>;
  /** Calls `fn` after each change; the source is read then. Returns a function that stops it. */
  subscribe?(fn: (value?: TValue) => void): () => void;
}

/** A collection that is read as one map, at once or later. */
export interface MapSource<TKey, TValue> extends PollOptions {
  /** The map now. */
  get(): Later<ReadonlyMap<TKey, TValue>>;
  /** Calls `fn` after each change. Returns a function that stops it. */
  subscribe?(fn: (value?: ReadonlyMap<TKey, TValue>) => void): () => void;
}

/** What changed in a collection: keys that were set, keys that are gone. */
export interface CollectionChange<TKey> {
  readonly set: readonly TKey[];
  readonly removed: readonly TKey[];
}

/** A page of a collection. */
export interface CollectionPage<TKey, TValue> {
  /** Keys and their items, in the order of the collection. */
  readonly items: readonly (readonly [key: TKey, item: TValue])[];
  /** The cursor of the next page; left out for the last page. */
  readonly next?: string | undefined;
}

/** What a {@link PagedSource} receives with each read of a page. */
export interface PageUse<TFilter = undefined> extends SourceUse {
  /** The `next` of the page before; `undefined` for the first page. */
  readonly after: string | undefined;
  /** The highest number of items that the page may have; at most 1,000. */
  readonly limit: number;
  /** The filter, validated; `undefined` for a collection that declares none. */
  readonly filter: TFilter;
}

/**
 * A collection that is read page by page, such as a table of a database. It is never read as a whole: its keys are those of one
 * page of 1,000. Without `subscribe` it is polled while it is watched.
 */
export interface PagedSource<TKey, TValue, TFilter = undefined> extends PollOptions {
  /** One page. */
  list(page: PageUse<TFilter>): Later<CollectionPage<TKey, TValue>>;
  /** The item now, or `undefined` where there is none. */
  get(key: TKey, use: SourceUse): Later<TValue | undefined>;
  /** Calls `fn` after each change. Returns a function that stops it. */
  subscribe?(fn: (change: CollectionChange<TKey>) => void): () => void;
}

/**
 * A collection that is read key by key, at once or later, for those too large to hand over as one map. Without `subscribe`
 * it is polled while it is watched. If it answers at once, an item that is changed in place is seen by reads and by no watcher.
 */
export interface KeyedSource<TKey, TValue> extends PollOptions {
  /** The keys now. */
  keys(use: SourceUse): Later<Iterable<TKey>>;
  /** The item now, or `undefined` where there is none. */
  get(key: TKey, use: SourceUse): Later<TValue | undefined>;
  /** Calls `fn` after each change. Returns a function that stops it. */
  subscribe?(fn: (change: CollectionChange<TKey>) => void): () => void;
}

/** A signal, as `@preact/signals-core` makes them: written to, or computed from others. */
export interface SignalLike<TValue> {
  readonly value: TValue;
  /** The value now, without making whoever is being computed depend on it. */
  peek?(): TValue;
  /** Calls `fn` with the value now and after each change. Returns what stops it. */
  subscribe(fn: (value: TValue) => void): () => void;
}

/**
 * Makes a source of a signal.
 *
 * @example
 * ```ts
 * const live = implementSurface(counter, { value: fromSignal(count), ...rest });
 * ```
 */
export function fromSignal<TValue>(signal: SignalLike<TValue>): Source<TValue> {
  return {
    get: () => (signal.peek === undefined ? signal.value : signal.peek()),
    subscribe: (fn) => signal.subscribe(fn),
  };
}

/** What an {@link ObservableLike} tells. */
export interface ValueObserver<TValue> {
  next(value: TValue): void;
  error(cause: unknown): void;
  complete(): void;
}

/**
 * Said twice, once as generic, since the compiler gives the parameters of a function that is written in place no types by
 * such a pair: those of a source's `subscribe` stay, which is what such a function is nearly always.
 */
interface Subscribe<TValue> {
  (observer: ValueObserver<TValue>): { unsubscribe(): unknown };
  <TObserver extends ValueObserver<TValue>>(observer: TObserver): { unsubscribe(): unknown };
}

/**
 * Values that are told to whoever subscribes, until they complete or fail: what TC39's proposal and RxJS mean by an
 * observable. A subject fits too.
 */
export interface ObservableLike<TValue> {
  /** Begins to tell, perhaps at once. What it returns ends that. */
  readonly subscribe: Subscribe<TValue>;
}

/** Milliseconds between two reads of a source whose author says nothing. */
export const defaultPollMs = 2000;

/** Options of {@link polled}. */
export interface PolledOptions {
  /** Milliseconds from the end of a read to the next, while the source is watched; from 10 to 3,600,000. @default 2_000 */
  readonly everyMs?: number;
}

/** A source that is read again and again while it is watched, and what {@link polled} returns. */
export interface PolledSource<TValue> {
  /** The value now. */
  get(use?: SourceUse): Later<TValue>;
  readonly pollMs: number;
}

/** Times between two reads. */
export const pollTime: Option = numberFrom(10, 3_600_000, " of milliseconds");

const fields = { everyMs: withDefault(pollTime, defaultPollMs) } satisfies OptionFields<PolledOptions>;

const neverAborted: SourceUse = Object.freeze({ signal: new AbortController().signal });

/**
 * Makes a source of a function that reads a value, such as a query. Every read calls it; while the source is watched, it is
 * also called every `everyMs`, one call at a time.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 * @example
 * ```ts
 * const load = polled(async ({ signal }) => (await fetch("http://localhost/load", { signal })).text(), { everyMs: 5000 });
 * ```
 */
export function polled<TValue>(
  read: (use: SourceUse) => Later<TValue>,
  options: PolledOptions = {},
): PolledSource<TValue> {
  const { everyMs } = readOptions(options, fields, "Making a polled source");
  if (typeof read !== "function")
    throw invalidOption("Making a polled source", "its first argument must be a function that reads");
  return Object.freeze({ get: (use = neverAborted) => read(use), pollMs: everyMs });
}

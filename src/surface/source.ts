import { numberFrom, withDefault, type Option, type OptionFields } from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";

/** A value that can be read and watched. Replace an object instead of changing it: watchers get no `Object.is`-equal value twice. */
export interface Source<TValue> {
  /** Returns the current value. */
  get(): TValue;
  /** Calls `fn` after each change, and may also call it at once with the current value. Returns a function that stops it. */
  subscribe(fn: (value: TValue) => void): () => void;
}

/** A source that can be written to, as {@link cellSource} creates it. */
export interface WritableSource<TValue> extends Source<TValue> {
  /** Replaces the value, unless it is `Object.is`-equal, and calls every listener. Then throws the first error of a listener. */
  set(value: TValue): void;
}

/**
 * Creates a source that holds one value in memory.
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
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      const faults: unknown[] = [];
      for (const listener of [...listeners]) {
        // A listener has set another value and announced it to all. The older value must not follow it.
        if (!Object.is(value, current)) break;
        // An earlier listener may have removed this one.
        if (!listeners.has(listener)) continue;
        try {
          listener(value);
        } catch (fault) {
          faults.push(fault);
        }
      }
      if (faults.length > 0) throw faults[0];
    },
    subscribe(fn) {
      // A wrapper, so that subscribing one function twice gives two subscriptions.
      const listener = (value: TValue): void => fn(value);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** A value, or a promise of it. An object with a `then()`, such as a query of a database client, counts as a promise. */
export type Later<TValue> = TValue | PromiseLike<TValue>;

/** The second argument of a source's read. */
export interface SourceUse {
  /** Fires when the reader leaves, the deadline of the read passes, or the surface closes. */
  readonly signal: AbortSignal;
}

/** The polling of a source without `subscribe`. */
export interface PollOptions {
  /** Milliseconds from the end of a read to the next, while a source without `subscribe` is watched; 10 to 3,600,000. @default 2_000 */
  readonly pollMs?: number;
}

/** A value that is read from another place, such as a database, and polled without `subscribe`. Watchers get changes of its content. */
export interface AsyncSource<TValue> extends PollOptions {
  /** Returns the current value. */
  get(use: SourceUse): Later<TValue>;
  /** Calls `fn` after each change; the source is read then. Returns a function that stops it. */
  subscribe?(fn: (value?: TValue) => void): () => void;
}

/** A collection that is read as one map, at once or later. */
export interface MapSource<TKey, TValue> extends PollOptions {
  /** Returns the current map. */
  get(): Later<ReadonlyMap<TKey, TValue>>;
  /** Calls `fn` after each change. Returns a function that stops it. */
  subscribe?(fn: (value?: ReadonlyMap<TKey, TValue>) => void): () => void;
}

/** The keys of a collection that were set, and those that were removed. */
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

/** The argument of a {@link PagedSource}'s read of a page. */
export interface PageUse<TFilter = undefined> extends SourceUse {
  /** The `next` of the page before; `undefined` for the first page. */
  readonly after: string | undefined;
  /** The highest number of items on the page; at most 1,000. */
  readonly limit: number;
  /** The filter, validated; `undefined` for a collection without a filter. */
  readonly filter: TFilter;
}

/** A collection that is read page by page, such as a table. Its list of keys is one page of 1,000. Polled without `subscribe`. */
export interface PagedSource<TKey, TValue, TFilter = undefined> extends PollOptions {
  /** Returns one page. */
  list(page: PageUse<TFilter>): Later<CollectionPage<TKey, TValue>>;
  /** Returns the current item, or `undefined` for an absent one. */
  get(key: TKey, use: SourceUse): Later<TValue | undefined>;
  /** Calls `fn` after each change. Returns a function that stops it. */
  subscribe?(fn: (change: CollectionChange<TKey>) => void): () => void;
}

/** A collection that is read key by key, and polled without `subscribe`. Read at once, watchers miss changes within an item. */
export interface KeyedSource<TKey, TValue> extends PollOptions {
  /** Returns the current keys. */
  keys(use: SourceUse): Later<Iterable<TKey>>;
  /** Returns the current item, or `undefined` for an absent one. */
  get(key: TKey, use: SourceUse): Later<TValue | undefined>;
  /** Calls `fn` after each change. Returns a function that stops it. */
  subscribe?(fn: (change: CollectionChange<TKey>) => void): () => void;
}

/** A signal or a computed signal of `@preact/signals-core`. */
export interface SignalLike<TValue> {
  readonly value: TValue;
  /** Returns the current value without making a surrounding computation depend on it. */
  peek?(): TValue;
  /** Calls `fn` with the current value and after each change. Returns a function that stops it. */
  subscribe(fn: (value: TValue) => void): () => void;
}

/**
 * Creates a source from a signal.
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

/** An observer of an {@link ObservableLike}. */
export interface ValueObserver<TValue> {
  next(value: TValue): void;
  error(cause: unknown): void;
  complete(): void;
}

// Two signatures, one of them generic: so the compiler does not use this type for the parameters of an inline function, which is
// nearly always the `subscribe` of a source.
interface Subscribe<TValue> {
  (observer: ValueObserver<TValue>): { unsubscribe(): unknown };
  <TObserver extends ValueObserver<TValue>>(observer: TObserver): { unsubscribe(): unknown };
}

/** An observable of the TC39 proposal or of RxJS, such as a subject: values until it completes or fails. */
export interface ObservableLike<TValue> {
  /** Subscribes an observer, which may be called at once. */
  readonly subscribe: Subscribe<TValue>;
}

/** The default time between two reads of a polled source, in milliseconds. */
export const defaultPollMs = 2000;

/** The schema of a time between two reads. */
export const pollTime: Option = numberFrom(10, 3_600_000, " of milliseconds");

/** Options of {@link polled}. */
export interface PolledOptions {
  /** Milliseconds from the end of a read to the next, while the source is watched; from 10 to 3,600,000. @default 2_000 */
  readonly everyMs?: number;
}

/** A source that is polled while it is watched, as {@link polled} creates it. */
export interface PolledSource<TValue> {
  /** Returns the current value. */
  get(use?: SourceUse): Later<TValue>;
  readonly pollMs: number;
}

const fields = { everyMs: withDefault(pollTime, defaultPollMs) } satisfies OptionFields<PolledOptions>;
const neverAborted: SourceUse = Object.freeze({ signal: new AbortController().signal });

/**
 * Creates a source from a function that reads a value, such as a query. Every read calls the function; while the source is
 * watched, it is also called every `everyMs`, one call at a time.
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
  const doing = "Cannot create a polled source";
  const { everyMs } = readOptions(options, fields, doing);
  if (typeof read !== "function") throw invalidOption(doing, "its first argument must be a function that reads");
  return Object.freeze({ get: (use = neverAborted) => read(use), pollMs: everyMs });
}

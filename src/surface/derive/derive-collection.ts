import type { CollectionClient } from "../client.ts";
import { kPushedCollection, type CollectionOrigin, type PushedCollection } from "../reading.ts";
import { RelayedError } from "../relayed.ts";
import type { CollectionPage } from "../source.ts";
import { mapReadings, ReadingMap } from "./reading-map.ts";
import { assertFunctions, followUpstream, readUpstream } from "./upstream.ts";

/** Options of `derive.collection()`. */
export interface DeriveCollectionOptions<TKey, TValue> {
  /**
   * Leaves out items that it returns `false` for. To know the keys, it reads all items, again after each change; more than 1,000 fail with
   * `OVERFLOW`. The list before stays, marked stale, while an item does not fit its schema or `filter` throws.
   */
  readonly filter?: (value: TValue, key: TKey) => boolean;
}

/** Highest number of items that a filtered collection reads to learn which of them pass: one page of the largest size. */
export const maxFiltered = 1000;

interface DerivedCollection {
  readonly upstream: CollectionClient<unknown, unknown, unknown>;
  readonly map: (value: unknown, key: unknown) => unknown;
  readonly filter: ((value: unknown, key: unknown) => boolean) | undefined;
}

/** Keys and items go up as the caller gave them, so the caller gets the issues of an input that does not fit. */
const terms = { tellsIssues: true };

function createItemMap({ map, filter }: DerivedCollection, key: unknown): ReadingMap<unknown, unknown> {
  return new ReadingMap({
    passes: () => true,
    map: (value: unknown) => (value === undefined || filter?.(value, key) === false ? undefined : map(value, key)),
  });
}

type AnyPage = CollectionPage<unknown, unknown>;

/** Maps a page of all items to the keys of those that pass. */
function createKeysMap({ filter }: DerivedCollection): ReadingMap<AnyPage, readonly unknown[]> {
  return new ReadingMap({
    passes: () => true,
    map({ items, next }: AnyPage) {
      if (next === undefined) return items.filter(([key, item]) => filter?.(item, key) !== false).map(([key]) => key);
      throw new RelayedError("OVERFLOW", `Cannot filter a collection: it has more than ${maxFiltered} items`);
    },
  });
}

function createOrigin(derived: DerivedCollection): CollectionOrigin<unknown, unknown, unknown> {
  const { upstream, filter } = derived;
  const followItem = (key: unknown, signal: AbortSignal) =>
    followUpstream(() => upstream.readings(key, { signal }), { signal, ...terms });
  const items = {
    item: async (key: unknown, signal: AbortSignal) =>
      createItemMap(derived, key).of(await readUpstream(() => upstream.reading(key, { signal }), terms)),
    watchItem: (key: unknown, signal: AbortSignal) => mapReadings(followItem(key, signal), createItemMap(derived, key)),
  };
  if (filter !== undefined) {
    const all = (signal: AbortSignal) => ({ limit: maxFiltered, signal });
    return {
      ...items,
      keys: async (signal) =>
        createKeysMap(derived).of(await readUpstream(() => upstream.listReading(all(signal)), terms)),
      watchKeys: (signal) =>
        mapReadings(
          followUpstream(() => upstream.listReadings(all(signal)), { signal, ...terms }),
          createKeysMap(derived),
        ),
    };
  }
  return {
    ...items,
    keys: (signal) => readUpstream(() => upstream.keysReading({ signal }), terms),
    watchKeys: (signal) => followUpstream(() => upstream.keysReadings({ signal }), { signal, ...terms }),
  };
}

/**
 * Derives a collection from a collection of another surface, item by item, in the order of its keys. It watches upstream only what its
 * own readers watch, unless there is a filter. While upstream cannot be reached, the last values stay and are marked stale.
 *
 * @example
 * ```ts
 * derive.collection(client.jobs, ({ status }) => ({ red: status === "red" }));
 * ```
 */
export function deriveCollection<$Key, $Value, $Out>(
  upstream: CollectionClient<$Key, $Key, $Value>,
  map: (value: $Value, key: $Key) => $Out,
  options?: DeriveCollectionOptions<$Key, $Value>,
): PushedCollection<$Key, $Key, $Out>;
export function deriveCollection(
  upstream: CollectionClient<never, unknown, unknown>,
  map: (value: never, key: never) => unknown,
  options: DeriveCollectionOptions<never, never> = {},
): PushedCollection<unknown, unknown, unknown> {
  assertFunctions(options, ["filter"], "Deriving a collection");
  // By the overload, these take the values of this upstream and of its readers.
  const derived = { upstream, map, filter: options.filter } as DerivedCollection;
  return Object.freeze({ [kPushedCollection]: createOrigin(derived) });
}

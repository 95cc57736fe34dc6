import type { SurfaceError } from "../../errors.ts";
import { LinkedAbort } from "../../spine/signals.ts";
import type { CollectionClient } from "../client.ts";
import { canonical } from "../owner/canonical.ts";
import {
  kPushedCollection,
  type CollectionOrigin,
  type PushedCollection,
  InvalidFrame,
  type PushedFrame,
} from "../pushed.ts";
import type { Reading } from "../reading.ts";
import { RelayedError } from "../relayed.ts";
import type { CollectionPage } from "../source.ts";
import { systemClock } from "../system-clock.ts";
import { combineLatest } from "./combine-latest.ts";
import { mapReadings, ReadingMap, runAuthorCode } from "./reading-map.ts";
import { assertFunctions, followUpstream, readUpstream } from "./upstream.ts";

/** Options of `derive.collection()`. */
export interface DeriveCollectionOptions<TKey, TValue> {
  /**
   * Leaves out items: those it returns `false` for are neither listed nor read. To know the keys, it reads all items, and again after
   * each change, so upstream may have at most 1,000; with more, the keys fail with `OVERFLOW`. The list before stays, marked stale,
   * while an item does not fit its schema, `filter` throws, or reading the items takes over 4 seconds.
   */
  readonly filter?: (value: TValue, key: TKey) => boolean;
}

/** Highest number of items that a filtered collection reads to learn which of them pass: one page of the largest size. */
export const maxFiltered = 1000;

/** Milliseconds until the items of a filtered collection count as lost: one read that hangs must not hold up the list of the others. */
export const maxLookMs = 4000;

interface DerivedCollection {
  readonly upstream: CollectionClient<unknown, unknown, unknown>;
  readonly map: (value: unknown, key: unknown) => unknown;
  readonly filter: ((value: unknown, key: unknown) => boolean) | undefined;
}

/** Keys and items go up as the caller gave them, so the caller gets the issues of an input that does not fit. */
const terms = { tellsIssues: true };

function createItemMap({ map, filter }: DerivedCollection, key: unknown): ReadingMap<unknown, unknown> {
  return new ReadingMap<unknown, unknown>({
    passes: () => true,
    map: (value) => (value === undefined || filter?.(value, key) === false ? undefined : map(value, key)),
  });
}

type PageReading = Reading<CollectionPage<unknown, unknown>>;

/** Returns the keys of the items that pass, as stale as the keys or the page of upstream; {@link InvalidFrame} if `filter` threw. */
function toPassing(
  { filter }: DerivedCollection,
  keys: Reading,
  page: PageReading,
): Reading<readonly unknown[]> | InvalidFrame {
  const { items, next } = page.value;
  if (next !== undefined) {
    const text = `Cannot filter a collection: it has more than ${maxFiltered} items`;
    throw new RelayedError("OVERFLOW", text);
  }
  try {
    const passing = runAuthorCode(() => items.filter(([key, value]) => filter?.(value, key) !== false));
    const stale = keys.stale ?? page.stale;
    return { value: passing.map(([key]) => key), ...(stale && { stale }) };
  } catch (cause) {
    // As runAuthorCode() throws.
    return new InvalidFrame(cause as SurfaceError);
  }
}

function createLate(): RelayedError {
  return new RelayedError("UNAVAILABLE", `Cannot filter a collection: its items did not arrive within ${maxLookMs} ms`);
}

async function readPage({ upstream }: DerivedCollection, signal: AbortSignal): Promise<PageReading> {
  const own = new LinkedAbort(signal);
  // The read fails with the reason of the abort.
  const stopTimer = systemClock.after(maxLookMs, () => own.abort(createLate()));
  try {
    return await upstream.listReading({ limit: maxFiltered, signal: own.signal });
  } finally {
    stopTimer();
    own.dispose();
  }
}

async function readPassing(derived: DerivedCollection, signal: AbortSignal): Promise<PushedFrame<readonly unknown[]>> {
  // One after the other: only the items have a time limit, since a collection without a filter reads its keys without one.
  const keys = await readUpstream(() => derived.upstream.keysReading({ signal }), terms);
  return toPassing(derived, keys, await readUpstream(() => readPage(derived, signal), terms));
}

async function* followPassing(
  derived: DerivedCollection,
  outer: AbortSignal,
): AsyncGenerator<PushedFrame<readonly unknown[]>> {
  const { upstream } = derived;
  const abort = new LinkedAbort(outer);
  let stopTimer: (() => void) | undefined;
  // Upstream may poll its pages; its keys tell at once that they are stale.
  async function* followKeys(signal: AbortSignal): AsyncGenerator<Reading> {
    for await (const keys of followUpstream(() => upstream.keysReadings({ signal }), { signal, ...terms })) {
      stopTimer ??= systemClock.after(maxLookMs, () => abort.abort());
      yield keys;
    }
  }
  const followPages = (signal: AbortSignal): AsyncIterable<PageReading> =>
    followUpstream(() => upstream.listReadings({ limit: maxFiltered, signal }), { signal, ...terms });
  let told: string | undefined;
  try {
    for await (const [keys, page] of combineLatest([followKeys, followPages], abort.signal)) {
      stopTimer?.();
      const passing = toPassing(derived, keys, page);
      const text = passing instanceof InvalidFrame ? undefined : canonical([passing.value, passing.stale]);
      if (text === undefined || text !== told) yield passing;
      told = text;
    }
    if (!outer.aborted) throw createLate();
  } finally {
    stopTimer?.();
    abort.dispose();
  }
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
    const keys = (signal: AbortSignal) => readPassing(derived, signal);
    return { ...items, keys, watchKeys: (signal) => followPassing(derived, signal) };
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

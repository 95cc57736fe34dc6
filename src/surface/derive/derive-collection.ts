import type { SurfaceError } from "../../errors.ts";
import { LinkedAbort } from "../../spine/signals.ts";
import { assertFunctions } from "./assert-functions.ts";
import type { CollectionClient } from "../client.ts";
import {
  kPushedCollection,
  type CollectionOrigin,
  type PushedCollection,
  Unmade,
  type PushedFrame,
} from "../pushed.ts";
import type { Reading } from "../reading.ts";
import { relay, RelayedError } from "../relayed.ts";
import type { CollectionPage } from "../source.ts";
import { systemClock } from "../system-clock.ts";
import { canonical } from "../owner/canonical.ts";
import { createGone, Gathering } from "./gathering.ts";
import { pause } from "./pause.ts";
import { ReadingMap, runMade, toReadingOf } from "./reading-map.ts";
import { upstreamSteps } from "./upstream-steps.ts";

/** What a derived collection may be told. */
export interface DeriveCollectionOptions<TKey, TValue> {
  /**
   * Leaves out items: those it returns `false` for are neither listed nor read. All items are read for the keys, and again
   * after each change, so upstream may have at most 1,000; with more, the keys fail with `OVERFLOW`. While an item does not
   * fit its schema, or `filter` throws, the list before it stands and is stale. So it does while
   * reading the items takes over 4 seconds.
   */
  readonly filter?: (value: TValue, key: TKey) => boolean;
}

/** The most items that are read to learn which of them pass: a page of as many as there may be. */
export const maxFiltered = 1000;

/** Milliseconds until the items of a filtered collection count as lost: one that hangs must not hold the list of the others. */
export const maxLookMs = 4000;

/** A collection of another surface, and what is made of its items. */
export interface CollectionDerived {
  readonly upstream: CollectionClient<unknown, unknown, unknown>;
  readonly map: (value: unknown, key: unknown) => unknown;
  readonly filter: ((value: unknown, key: unknown) => boolean) | undefined;
}

function createItemMap({ map, filter }: CollectionDerived, key: unknown): ReadingMap<unknown, unknown> {
  return new ReadingMap<unknown, unknown>({
    passes: () => true,
    map: (value) => (value === undefined || filter?.(value, key) === false ? undefined : map(value, key)),
  });
}

async function ask<TAnswer>(use: () => Promise<TAnswer>): Promise<TAnswer> {
  try {
    return await use();
  } catch (cause) {
    throw relay(cause, { tellsIssues: true });
  }
}

async function* follow<TValue>(open: () => AsyncIterable<TValue>, signal: AbortSignal): AsyncGenerator<TValue> {
  for await (const step of upstreamSteps(open)) {
    if ("failure" in step) throw relay(step.failure, { tellsIssues: true });
    yield step.value;
  }
  if (!signal.aborted) throw createGone();
}

async function* followItem(
  derived: CollectionDerived,
  key: unknown,
  signal: AbortSignal,
): AsyncGenerator<PushedFrame<unknown>> {
  const items = createItemMap(derived, key);
  for await (const reading of follow(() => derived.upstream.readings(key, { signal }), signal)) {
    const made = items.frameOf(reading);
    if (made !== undefined) yield made;
  }
}

type PageReading = Reading<CollectionPage<unknown, unknown>>;

/** Returns the keys of the items that pass, as stale as the keys or the page of upstream, or why they are not known. */
function toPassing(
  { filter }: CollectionDerived,
  keys: Reading,
  page: PageReading,
): Reading<readonly unknown[]> | Unmade {
  const { items, next } = page.value;
  if (next !== undefined) {
    const text = `Cannot filter a collection: it has more than ${maxFiltered} items`;
    throw new RelayedError("OVERFLOW", text);
  }
  try {
    const passing = runMade(() => items.filter(([key, value]) => filter?.(value, key) !== false));
    return toReadingOf(
      passing.map(([key]) => key),
      keys.stale ?? page.stale,
    );
  } catch (cause) {
    // `runMade()` throws nothing else.
    return new Unmade(cause as SurfaceError);
  }
}

function createLate(): RelayedError {
  return new RelayedError("UNAVAILABLE", `Cannot filter a collection: its items were not there within ${maxLookMs} ms`);
}

async function readPage({ upstream }: CollectionDerived, signal: AbortSignal): Promise<PageReading> {
  const own = new LinkedAbort(signal);
  // The read fails with the reason of the abort.
  const stop = systemClock.after(maxLookMs, () => own.abort(createLate()));
  try {
    return await upstream.listReading({ limit: maxFiltered, signal: own.signal });
  } finally {
    stop();
    own.dispose();
  }
}

async function readPassing(derived: CollectionDerived, signal: AbortSignal): Promise<PushedFrame<readonly unknown[]>> {
  // One after the other: only the items have a bound, as the keys are read without one where there is no filter.
  const keys = await ask(() => derived.upstream.keysReading({ signal }));
  return toPassing(derived, keys, await ask(() => readPage(derived, signal)));
}

/** Gives one value, `maxLookMs` after it is opened. */
async function* openDeadline(signal: AbortSignal): AsyncGenerator<void> {
  await pause(maxLookMs, signal);
  yield;
}

async function* followPassing(
  derived: CollectionDerived,
  signal: AbortSignal,
): AsyncGenerator<PushedFrame<readonly unknown[]>> {
  const { upstream } = derived;
  const gathering = new Gathering(signal);
  let keys: Reading | undefined;
  let page: PageReading | undefined;
  let told: string | undefined;
  const assertPage = (): void => {
    if (page === undefined) throw createLate();
  };
  try {
    // Pages of upstream may be polled; its keys say at once that they are stale.
    gathering.follow({
      open: (own) => follow(() => upstream.keysReadings({ signal: own }), own),
      take: (reading) => {
        if (keys === undefined) gathering.follow({ open: openDeadline, take: assertPage, mayEnd: true });
        keys = reading;
      },
    });
    gathering.follow({
      open: (own) => follow(() => upstream.listReadings({ limit: maxFiltered, signal: own }), own),
      take: (next) => (page = next),
    });
    while (await gathering.moved()) {
      if (keys === undefined || page === undefined) continue;
      const passing = toPassing(derived, keys, page);
      const text = passing instanceof Unmade ? undefined : canonical([passing.value, passing.stale]);
      if (text === undefined || text !== told) yield passing;
      told = text;
    }
  } finally {
    await gathering.close();
  }
}

function createOrigin(derived: CollectionDerived): CollectionOrigin<unknown, unknown, unknown> {
  const { upstream, filter } = derived;
  const readItem = (key: unknown, signal: AbortSignal) => ask(() => upstream.reading(key, { signal }));
  const items = {
    item: async (key: unknown, signal: AbortSignal) => createItemMap(derived, key).of(await readItem(key, signal)),
    watchItem: (key: unknown, signal: AbortSignal) => followItem(derived, key, signal),
  };
  if (filter !== undefined) {
    const keys = (signal: AbortSignal) => readPassing(derived, signal);
    return { ...items, keys, watchKeys: (signal) => followPassing(derived, signal) };
  }
  return {
    ...items,
    keys: (signal) => ask(() => upstream.keysReading({ signal })),
    watchKeys: (signal) => follow(() => upstream.keysReadings({ signal }), signal),
  };
}

/**
 * Derives a collection from one of another surface, item by item, in the order of its keys. Nothing is watched upstream that
 * nobody watches here, unless there is a filter. While upstream cannot be reached what was read stands, marked stale.
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
  assertFunctions(options, { doing: "Deriving a collection", names: ["filter"] });
  // The overload says that these take what this upstream and its readers give.
  const derived = { upstream, map, filter: options.filter } as CollectionDerived;
  return Object.freeze({ [kPushedCollection]: createOrigin(derived) });
}

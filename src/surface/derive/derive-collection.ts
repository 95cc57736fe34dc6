import { assertFunctions } from "./assert-functions.ts";
import type { CollectionClient } from "../client.ts";
import { kPushedCollection, type CollectionOrigin, type PushedCollection } from "../pushed-collection.ts";
import type { PushedFrame } from "../pushed.ts";
import type { Reading } from "../reading.ts";
import { relay } from "../relayed.ts";
import { followPassing, readPassing } from "./passing-keys.ts";
import { createGone } from "./gathering.ts";
import { ReadingMap, runMade } from "./reading-map.ts";
import { upstreamSteps } from "./upstream-steps.ts";
import { Verdicts } from "./verdicts.ts";

/** What a derived collection may be told. */
export interface DeriveCollectionOptions<TKey, TValue> {
  /**
   * An item that does not pass is not there: neither listed nor read. One that cannot be looked at, as it does not fit its
   * schema, is listed as it was before, and the list is stale. Which items pass is known by looking at them all,
   * so upstream may hold at most 1,000 of them, and beyond that the keys fail with `OVERFLOW`.
   */
  readonly filter?: (value: TValue, key: TKey) => boolean;
}

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

async function* follow<TValue>(
  open: () => AsyncIterable<Reading<TValue>>,
  signal: AbortSignal,
): AsyncGenerator<Reading<TValue>> {
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

function createOrigin(derived: CollectionDerived): CollectionOrigin<unknown, unknown, unknown> {
  const { upstream, filter } = derived;
  const verdicts = filter === undefined ? undefined : new Verdicts((value, key) => runMade(() => filter(value, key)));
  const watchKeys = (signal: AbortSignal) => follow(() => upstream.keysReadings({ signal }), signal);
  const readKeys = (signal: AbortSignal) => ask(() => upstream.keysReading({ signal }));
  const readItem = (key: unknown, signal: AbortSignal) => ask(() => upstream.reading(key, { signal }));
  const items = {
    watchKeys,
    readKeys,
    readItem,
    watchItem: (key: unknown, signal: AbortSignal) => follow(() => upstream.readings(key, { signal }), signal),
  };
  return {
    keys: verdicts === undefined ? readKeys : (signal) => readPassing({ items, verdicts, signal }),
    watchKeys: verdicts === undefined ? watchKeys : (signal) => followPassing({ items, verdicts, signal }),
    item: async (key, signal) => createItemMap(derived, key).of(await readItem(key, signal)),
    watchItem: (key, signal) => followItem(derived, key, signal),
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

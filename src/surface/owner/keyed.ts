import { isThenable } from "../is-thenable.ts";
import type { CollectionChange, KeyedSource, MapSource, SourceUse } from "../source.ts";
import { canonical } from "./canonical.ts";
import { whenThere } from "./source-reader.ts";

/** What a collection is implemented by: a source of a map, or key by key. */
export type CollectionSource = MapSource<unknown, unknown> | KeyedSource<unknown, unknown>;

/** Either kind of source, read key by key, at once or later. */
export interface Keyed {
  /** An iterable of raw keys, or a promise of one. */
  keys(use: SourceUse): unknown;
  /** The raw item under a key or `undefined`, or a promise of either. */
  item(wanted: WantedKey, use: SourceUse): unknown;
  /** A change without keys may concern them all. Left out: the source is polled. */
  readonly subscribe: ((fn: (change?: CollectionChange<unknown>) => void) => unknown) | undefined;
  readonly pollMs: number | undefined;
}

/** A key as its caller gave it, and as the key's schema made it. */
export interface WantedKey {
  readonly given: unknown;
  readonly valid: unknown;
}

type AnyMap = ReadonlyMap<unknown, unknown>;

/** Reads either kind of source key by key. */
export function toKeyed(source: CollectionSource): Keyed {
  const { pollMs } = source;
  if ("keys" in source) {
    const subscribe: Keyed["subscribe"] = source.subscribe && ((fn) => source.subscribe?.(fn));
    const item = (wanted: WantedKey, use: SourceUse): unknown => readItem(source, wanted, use);
    return { keys: (use) => source.keys(use), item, subscribe, pollMs };
  }
  // The function of `polled()` takes the context; one that takes no argument ignores it.
  const read = (use: SourceUse): unknown => (source.get as (use: SourceUse) => unknown).call(source, use);
  return {
    // By the type of its source, it gives maps.
    keys: (use) => whenThere(read(use), (map) => (map as AnyMap).keys()),
    // As above.
    item: (wanted, use) => whenThere(read(use), (map) => findItem(map as AnyMap, wanted)),
    subscribe: source.subscribe && ((fn) => source.subscribe?.(() => fn())),
    pollMs,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isSame(key: unknown, wanted: WantedKey): boolean {
  if (!isObject(key)) return Object.is(key, wanted.valid) || Object.is(key, wanted.given);
  const text = canonical(key);
  return canonical(wanted.valid) === text || canonical(wanted.given) === text;
}

// A source's keys are what the key's schema takes, which for one that transforms is not what it makes: the key as it was
// given is tried second. Object keys are found by their fields.

/** An item may be null. */
function orElse(found: unknown, find: () => unknown): unknown {
  return found === undefined ? find() : found;
}

function findItem(map: AnyMap, wanted: WantedKey): unknown {
  if (!isObject(wanted.valid)) return orElse(map.get(wanted.valid), () => map.get(wanted.given));
  for (const key of map.keys()) if (isSame(key, wanted)) return map.get(key);
  return undefined;
}

function readItem(source: KeyedSource<unknown, unknown>, wanted: WantedKey, use: SourceUse): unknown {
  const { valid, given } = wanted;
  const found = source.get(valid, use);
  if (isThenable(found)) {
    const isOther = !isObject(valid) && !Object.is(given, valid);
    return isOther ? whenThere(found, (item) => orElse(item, () => source.get(given, use))) : found;
  }
  if (found !== undefined) return found;
  if (!isObject(valid)) return Object.is(given, valid) ? undefined : source.get(given, use);
  const keys = source.keys(use);
  // A source that answers later compares the fields of a key itself: to find it would take all of the keys.
  if (isThenable(keys)) return undefined;
  for (const key of keys) if (isSame(key, wanted)) return source.get(key, use);
  return undefined;
}

/** Whether a change may concern a key. */
export function concerns(change: CollectionChange<unknown> | undefined, wanted: WantedKey): boolean {
  if (!Array.isArray(change?.set) || !Array.isArray(change.removed)) return true;
  return change.set.some((key) => isSame(key, wanted)) || change.removed.some((key) => isSame(key, wanted));
}

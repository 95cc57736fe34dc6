import { isThenable } from "../is-thenable.ts";
import type { CollectionChange, KeyedSource, MapSource, CollectionPage, PagedSource, SourceUse } from "../source.ts";
import { canonical } from "./canonical.ts";
import { maxPage, pageOfKeys, toPageUse, type AskedPage } from "./page.ts";
import { whenThere } from "./source-reader.ts";
import { isObject } from "../../options/is-object.ts";

type AnyKeyed = KeyedSource<unknown, unknown>;
type AnyPaged = PagedSource<unknown, unknown, unknown>;

/** What a collection is implemented by: a source of a map, key by key, or page by page. */
export type CollectionSource = MapSource<unknown, unknown> | AnyKeyed | AnyPaged;

/** Any kind of source, read key by key or page by page, at once or later. */
export interface Keyed {
  /** An iterable of raw keys, or a promise of one. A source that pages is given the filter of all items. */
  keys(use: SourceUse, all: unknown): unknown;
  /** The raw item under a key or `undefined`, or a promise of either. */
  item(wanted: WantedKey, use: SourceUse): unknown;
  /** A raw page, or a promise of one. */
  page(asked: AskedPage, use: SourceUse): unknown;
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

type AnyPage = CollectionPage<unknown, unknown>;

/** A source that gives pages; its keys are those of one page. */
function fromPaged(source: AnyPaged): Keyed {
  const page = (asked: AskedPage, use: SourceUse): unknown => source.list(toPageUse(asked, use));
  return {
    // By the type of its source, it gives pages.
    keys: (use, filter) =>
      whenThere(page({ after: undefined, limit: maxPage, filter }, use), (first) =>
        (first as AnyPage).items.map(([key]) => key),
      ),
    item: (wanted, use) => getItem(source, wanted, use),
    page,
    subscribe: source.subscribe && ((fn) => source.subscribe?.(fn)),
    pollMs: source.pollMs,
  };
}

/** Makes a page of keys and their items; an item may have gone since its key was read. */
export function toPage(keys: readonly unknown[], items: readonly unknown[], next: string | undefined): AnyPage {
  const pairs = keys.map((key, index) => [key, items[index]] as const);
  return { items: pairs.filter(([, item]) => item !== undefined), next };
}

function fromKeyed(source: AnyKeyed): Keyed {
  const item = (wanted: WantedKey, use: SourceUse): unknown => readItem(source, wanted, use);
  return {
    keys: (use) => source.keys(use),
    item,
    page: (asked, use) =>
      whenThere(source.keys(use), (all) => {
        // By the type of its source, it gives an iterable of keys.
        const { keys, next } = pageOfKeys(all as Iterable<unknown>, asked);
        const items = keys.map((key) => item({ given: key, valid: key }, use));
        return items.some(isThenable)
          ? Promise.all(items).then((values) => toPage(keys, values, next))
          : toPage(keys, items, next);
      }),
    subscribe: source.subscribe && ((fn) => source.subscribe?.(fn)),
    pollMs: source.pollMs,
  };
}

/** Reads any kind of source key by key. */
export function toKeyed(source: CollectionSource): Keyed {
  if ("list" in source) return fromPaged(source);
  if ("keys" in source) return fromKeyed(source);
  const { pollMs } = source;
  // The function of `polled()` takes the context; one that takes no argument ignores it.
  const read = (use: SourceUse): unknown => (source.get as (use: SourceUse) => unknown).call(source, use);
  return {
    // By the type of its source, it gives maps.
    keys: (use) => whenThere(read(use), (map) => (map as AnyMap).keys()),
    // As above.
    item: (wanted, use) => whenThere(read(use), (map) => findItem(map as AnyMap, wanted)),
    // As above.
    page: (asked, use) => whenThere(read(use), (map) => pageOfMap(map as AnyMap, asked)),
    subscribe: source.subscribe && ((fn) => source.subscribe?.(() => fn())),
    pollMs,
  };
}

function pageOfMap(map: AnyMap, asked: AskedPage): AnyPage {
  const { keys, next } = pageOfKeys(map.keys(), asked);
  return { items: keys.map((key) => [key, map.get(key)]), next };
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

function getItem(source: Pick<AnyKeyed, "get">, { valid, given }: WantedKey, use: SourceUse): unknown {
  const found = source.get(valid, use);
  if (isObject(valid) || Object.is(given, valid)) return found;
  return whenThere(found, (item) => orElse(item, () => source.get(given, use)));
}

function readItem(source: AnyKeyed, wanted: WantedKey, use: SourceUse): unknown {
  const found = getItem(source, wanted, use);
  if (found !== undefined || !isObject(wanted.valid)) return found;
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

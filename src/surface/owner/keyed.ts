import type { CollectionChange, KeyedSource, Source } from "../source.ts";
import { canonical } from "./canonical.ts";

/** What a collection is implemented by: a source of a map, or key by key. */
export type CollectionSource = Source<ReadonlyMap<unknown, unknown>> | KeyedSource<unknown, unknown>;

/** Either kind of source, read key by key. */
export interface Keyed {
  keys(): Iterable<unknown>;
  get(key: unknown): unknown;
  /** A change without keys may concern them all. */
  subscribe(fn: (change: CollectionChange<unknown> | undefined) => void): () => void;
}

/** Reads either kind of source key by key. */
export function toKeyed(source: CollectionSource): Keyed {
  if ("keys" in source) return source;
  return {
    keys: () => source.get().keys(),
    get: (key) => source.get().get(key),
    subscribe: (fn) => source.subscribe(() => fn(undefined)),
  };
}

/** A key as its caller gave it, and as the key's schema made it. */
export interface WantedKey {
  readonly given: unknown;
  readonly valid: unknown;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isSame(key: unknown, wanted: WantedKey): boolean {
  if (!isObject(key)) return Object.is(key, wanted.valid) || Object.is(key, wanted.given);
  const text = canonical(key);
  return canonical(wanted.valid) === text || canonical(wanted.given) === text;
}

/**
 * The raw item under a key, or `undefined`. A source's keys are what the key's schema takes, which for one that
 * transforms is not what it makes: the key as it was given is tried second. Object keys are found by their fields.
 */
export function readKey(source: Keyed, wanted: WantedKey): unknown {
  if (!isObject(wanted.valid)) {
    const found = source.get(wanted.valid);
    return found === undefined && !Object.is(wanted.given, wanted.valid) ? source.get(wanted.given) : found;
  }
  for (const key of source.keys()) if (isSame(key, wanted)) return source.get(key);
  return undefined;
}

/** Whether a change may concern a key. */
export function concerns(change: CollectionChange<unknown> | undefined, wanted: WantedKey): boolean {
  if (!Array.isArray(change?.set) || !Array.isArray(change.removed)) return true;
  return change.set.some((key) => isSame(key, wanted)) || change.removed.some((key) => isSame(key, wanted));
}

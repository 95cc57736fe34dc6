import { SurfaceError } from "../../errors.ts";
import { canonical } from "../owner/canonical.ts";
import type { Reading, Staleness } from "../reading.ts";
import { markRelayed } from "../relayed.ts";
import { Gathering } from "./gathering.ts";
import { toReadingOf } from "./reading-map.ts";

/** More items than this are not looked at to learn which of them pass. */
export const maxFiltered = 1000;

/** How many items are read at once. */
const maxReading = 32;

/** A collection of another surface, as far as its items decide which keys there are. */
export interface Items {
  readKeys(signal: AbortSignal): Promise<Reading<readonly unknown[]>>;
  watchKeys(signal: AbortSignal): AsyncIterable<Reading<readonly unknown[]>>;
  readItem(key: unknown, signal: AbortSignal): Promise<Reading>;
  watchItem(key: unknown, signal: AbortSignal): AsyncIterable<Reading>;
}

/** Which keys of a collection there are to be. */
export interface Passing {
  readonly items: Items;
  readonly passes: (value: unknown, key: unknown) => boolean;
  readonly signal: AbortSignal;
}

function assertBounded(keys: readonly unknown[]): void {
  if (keys.length <= maxFiltered) return;
  throw markRelayed(
    new SurfaceError("OVERFLOW", `Filtering a collection: there are ${keys.length} items, and at most ${maxFiltered}`),
  );
}

/** One item, as far as it is known. */
interface Seen {
  readonly passes: boolean;
  readonly stale: Staleness | undefined;
}

function see({ passes }: Passing, key: unknown, { value, stale }: Reading): Seen {
  return { passes: value !== undefined && passes(value, key), stale };
}

/** The keys whose items pass, in their order: as stale as the first that is. */
function toKeys(
  { value: keys, stale }: Reading<readonly unknown[]>,
  seen: readonly Seen[],
): Reading<readonly unknown[]> {
  const passing = keys.filter((_, index) => seen[index]?.passes === true);
  return toReadingOf(passing, stale ?? seen.find((item) => item.stale !== undefined)?.stale);
}

/**
 * The keys whose items pass, now.
 *
 * @throws SurfaceError `OVERFLOW` for more items than are looked at, and what reading them throws.
 */
export async function readPassing(passing: Passing): Promise<Reading<readonly unknown[]>> {
  const { items, signal } = passing;
  const keys = await items.readKeys(signal);
  assertBounded(keys.value);
  const seen: Seen[] = [];
  for (let from = 0; from < keys.value.length; from += maxReading) {
    const some = keys.value.slice(from, from + maxReading);
    const readings = some.map(async (key) => see(passing, key, await items.readItem(key, signal)));
    seen.push(...(await Promise.all(readings)));
  }
  return toKeys(keys, seen);
}

/** The items that are watched for whether they pass. */
class WatchedItems {
  readonly #passing: Passing;
  readonly #gathering: Gathering;
  readonly #stops = new Map<string, () => Promise<void>>();
  readonly #seen = new Map<string, Seen>();
  #keys: Reading<readonly unknown[]> | undefined;

  constructor(passing: Passing, gathering: Gathering) {
    this.#passing = passing;
    this.#gathering = gathering;
  }

  /** Watches the items of these keys, and no others. */
  set(keys: Reading<readonly unknown[]>): void {
    assertBounded(keys.value);
    this.#keys = keys;
    const wanted = new Map(keys.value.map((key) => [canonical(key), key]));
    for (const [id, stop] of this.#stops) if (!wanted.has(id)) this.#forget(id, stop);
    for (const [id, key] of wanted) if (!this.#stops.has(id)) this.#watch(id, key);
  }

  /** The keys that pass, once every item has been seen. */
  get passing(): Reading<readonly unknown[]> | undefined {
    const keys = this.#keys;
    const seen = keys?.value.flatMap((key) => this.#seen.get(canonical(key)) ?? []);
    return keys === undefined || seen?.length !== keys.value.length ? undefined : toKeys(keys, seen);
  }

  #watch(id: string, key: unknown): void {
    const { items } = this.#passing;
    const stop = this.#gathering.follow<Reading>({
      open: (signal) => items.watchItem(key, signal),
      take: (reading) => void this.#seen.set(id, see(this.#passing, key, reading)),
    });
    this.#stops.set(id, stop);
  }

  #forget(id: string, stop: () => Promise<void>): void {
    this.#stops.delete(id);
    this.#seen.delete(id);
    void stop();
  }
}

/**
 * The keys whose items pass, then after each change of them.
 *
 * @throws SurfaceError `OVERFLOW` for more items than are looked at, and what watching them throws.
 */
export async function* followPassing(passing: Passing): AsyncGenerator<Reading<readonly unknown[]>> {
  const { items, signal } = passing;
  const gathering = new Gathering(signal);
  const watched = new WatchedItems(passing, gathering);
  let told: string | undefined;
  try {
    gathering.follow<Reading<readonly unknown[]>>({
      open: (own) => items.watchKeys(own),
      take: (keys) => watched.set(keys),
    });
    while (await gathering.moved()) {
      const keys = watched.passing;
      if (keys === undefined) continue;
      const text = canonical([keys.value, keys.stale]);
      if (text === told) continue;
      told = text;
      yield keys;
    }
  } finally {
    await gathering.close();
  }
}

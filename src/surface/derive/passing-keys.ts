import { SurfaceError } from "../../errors.ts";
import { Backoff } from "../../spine/backoff.ts";
import { LinkedAbort } from "../../spine/linked-abort.ts";
import { untilAborted } from "../../spine/until-aborted.ts";
import { canonical } from "../owner/canonical.ts";
import { rearm } from "../owner/rearm.ts";
import type { PushedReading } from "../pushed.ts";
import type { Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import { Gathering } from "./gathering.ts";
import { pause } from "./pause.ts";
import { toReadingOf } from "./reading-map.ts";
import { Slots } from "./slots.ts";
import { upstreamSteps, type UpstreamStep } from "./upstream-steps.ts";
import type { Verdict, Verdicts } from "./verdicts.ts";

/** More items than this are not looked at to learn which of them pass. */
export const maxFiltered = 1000;

/** How long the watch of an item may say nothing before it is read, in milliseconds: one without a value waits for ever. */
const silentMs = 1000;

/** How many items are read at once. */
const maxReading = 32;

/** How long an item is waited for, in milliseconds: one that hangs is not to hold the list of the others. */
const maxLookMs = 4000;

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
  readonly verdicts: Verdicts;
  readonly signal: AbortSignal;
}

function assertBounded(keys: readonly unknown[]): void {
  if (keys.length <= maxFiltered) return;
  throw new SurfaceError(
    "OVERFLOW",
    `Filtering a collection: there are ${keys.length} items, and at most ${maxFiltered}`,
    { origin: "upstream" },
  );
}

/** The keys whose items pass, in their order: as stale as the first that is. */
function toKeys(
  { value: keys, stale }: Reading<readonly unknown[]>,
  judged: readonly Verdict[],
): Reading<readonly unknown[]> {
  const passing = keys.filter((_, index) => judged[index]?.passes === true);
  return toReadingOf(passing, stale ?? judged.find((item) => item.stale !== undefined)?.stale);
}

/** @throws SurfaceError `TIMEOUT` for an item that hangs, and what reading it fails with. */
async function lookAt({ items, signal }: Passing, key: unknown): Promise<Reading> {
  const own = new LinkedAbort(signal);
  const late = new SurfaceError("TIMEOUT", `Looking at an item: it was not there within ${maxLookMs} ms`);
  const stop = systemClock.after(maxLookMs, () => own.abort(late));
  const start = (): Promise<Reading> => items.readItem(key, own.signal);
  try {
    return await untilAborted({ start, signal: own.signal, doing: "Looking at an item" });
  } catch (cause) {
    // Whoever heeds the signal says in words of its own that it was cancelled.
    throw own.signal.reason === late ? late : cause;
  } finally {
    stop();
    own.dispose();
  }
}

async function judge(passing: Passing, key: unknown): Promise<Verdict> {
  try {
    return passing.verdicts.of(key, await lookAt(passing, key));
  } catch (cause) {
    if (passing.signal.aborted) throw cause;
    return passing.verdicts.without(key, cause);
  }
}

/** Judges each of them, of which one that hangs takes the place of one. What fails them all leaves none behind. */
async function judgeAll(passing: Passing, keys: readonly unknown[]): Promise<readonly Verdict[]> {
  const slots = new Slots(maxReading);
  const own = new LinkedAbort(passing.signal);
  const each = { ...passing, signal: own.signal };
  try {
    return await Promise.all(keys.map((key) => slots.run(() => judge(each, key))));
  } finally {
    own.abort();
    own.dispose();
  }
}

function withFaults<TValue>(reading: Reading<TValue>, faults: readonly unknown[]): PushedReading<TValue> {
  return faults.length === 0 ? reading : { ...reading, faults };
}

/**
 * The keys whose items pass, now. An item that cannot be looked at is where it was before, and makes the list stale.
 *
 * @throws SurfaceError `OVERFLOW` for more items than are looked at, and what says that none of them can be read.
 */
export async function readPassing(passing: Passing): Promise<PushedReading<readonly unknown[]>> {
  const { items, verdicts, signal } = passing;
  const keys = await items.readKeys(signal);
  assertBounded(keys.value);
  const judged = await judgeAll(passing, keys.value);
  verdicts.keepOnly(keys.value);
  return withFaults(toKeys(keys, judged), verdicts.takeFaults());
}

/** Watches something again, after a while that grows, each time that it has failed. */
async function* watchAgain<TValue>(
  open: () => AsyncIterable<TValue>,
  signal: AbortSignal,
): AsyncGenerator<UpstreamStep<TValue>> {
  const backoff = new Backoff({ ...rearm, clock: systemClock, random: Math.random });
  while (!signal.aborted) {
    backoff.up();
    yield* upstreamSteps(open);
    if (!signal.aborted) await pause(backoff.next(), signal);
  }
}

/** The code of what an item could not be had for, where that says nothing of the item and another read may. */
function toPassingCode(cause: unknown): "OVERFLOW" | "TIMEOUT" | undefined {
  try {
    const code = cause instanceof SurfaceError ? cause.code : undefined;
    return code === "OVERFLOW" || code === "TIMEOUT" ? code : undefined;
  } catch {
    // A proxy may throw when it is asked what it is.
    return undefined;
  }
}

/** An item whose watch has said nothing so far. */
interface SilentItem {
  readonly key: unknown;
  readonly slots: Slots;
  readonly isHeard: () => boolean;
}

/**
 * What a read says of an item whose watch has said nothing for a while: it fails where there is nothing to be had. That
 * there is too much to do leaves it as unknown as before; then, and after one that hung, it is read again.
 */
async function* readSilent(
  passing: Passing,
  { key, slots, isHeard }: SilentItem,
): AsyncGenerator<UpstreamStep<Reading>> {
  const { signal } = passing;
  const isOver = (): boolean => signal.aborted || isHeard();
  const backoff = new Backoff({ ...rearm, clock: systemClock, random: Math.random });
  const read = async (): Promise<UpstreamStep<Reading> | undefined> => {
    if (isOver()) return undefined;
    return lookAt(passing, key).then(
      (value) => ({ value }),
      (failure: unknown) => ({ failure }),
    );
  };
  for (let delayMs = silentMs; ; delayMs = silentMs + backoff.next()) {
    await pause(delayMs, signal);
    const step = isOver() ? undefined : await slots.run(read);
    if (step === undefined || isOver()) return;
    const code = "failure" in step ? toPassingCode(step.failure) : undefined;
    if (code !== "OVERFLOW") yield step;
    if (code === undefined) return;
  }
}

/** The items that are watched for whether they pass. */
class WatchedItems {
  readonly #passing: Passing;
  readonly #gathering: Gathering;
  readonly #stops = new Map<string, () => Promise<void>>();
  readonly #judged = new Map<string, Verdict>();
  /** Those whose watch has said something. */
  readonly #heard = new Set<string>();
  readonly #slots = new Slots(maxReading);
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
    this.#passing.verdicts.keepOnly(keys.value);
    for (const [id, key] of wanted) if (!this.#stops.has(id)) this.#watch(id, key);
  }

  /** The keys that pass, once every item has been seen. */
  get passing(): Reading<readonly unknown[]> | undefined {
    const keys = this.#keys;
    const judged = keys?.value.flatMap((key) => this.#judged.get(canonical(key)) ?? []);
    return keys === undefined || judged?.length !== keys.value.length ? undefined : toKeys(keys, judged);
  }

  #watch(id: string, key: unknown): void {
    const { items } = this.#passing;
    const stop = this.#gathering.follow<UpstreamStep<Reading>>({
      open: (signal) => watchAgain(() => items.watchItem(key, signal), signal),
      take: (step) => {
        this.#heard.add(id);
        this.#judge(id, key, step);
      },
    });
    const silent = { key, slots: this.#slots, isHeard: () => this.#heard.has(id) };
    const stopSilent = this.#gathering.follow<UpstreamStep<Reading>>({
      open: (signal) => readSilent({ ...this.#passing, signal }, silent),
      take: (step) => this.#judge(id, key, step),
      mayEnd: true,
    });
    this.#stops.set(id, async () => void (await Promise.all([stop(), stopSilent()])));
  }

  #judge(id: string, key: unknown, step: UpstreamStep<Reading>): void {
    const { verdicts } = this.#passing;
    this.#judged.set(id, "failure" in step ? verdicts.without(key, step.failure) : verdicts.of(key, step.value));
  }

  #forget(id: string, stop: () => Promise<void>): void {
    this.#stops.delete(id);
    this.#judged.delete(id);
    this.#heard.delete(id);
    void stop();
  }
}

/**
 * The keys whose items pass, then after each change of them. An item that cannot be looked at is where it was before, and
 * makes the list stale; it is watched again by itself.
 *
 * @throws SurfaceError `OVERFLOW` for more items than are looked at, and what says that none of them can be watched.
 */
export async function* followPassing(passing: Passing): AsyncGenerator<PushedReading<readonly unknown[]>> {
  const { items, verdicts, signal } = passing;
  const gathering = new Gathering(signal);
  const watched = new WatchedItems(passing, gathering);
  let told: { readonly text: string; readonly keys: Reading<readonly unknown[]> } | undefined;
  try {
    gathering.follow<Reading<readonly unknown[]>>({
      open: (own) => items.watchKeys(own),
      take: (keys) => watched.set(keys),
    });
    while (await gathering.moved()) {
      const keys = watched.passing;
      if (keys === undefined) continue;
      const text = canonical([keys.value, keys.stale]);
      const faults = verdicts.takeFaults();
      if (text === told?.text && faults.length === 0) continue;
      // The same object for the same list: that something is to be logged is no change of it.
      if (text !== told?.text) told = { text, keys };
      yield withFaults(told.keys, faults);
    }
  } finally {
    await gathering.close();
  }
}

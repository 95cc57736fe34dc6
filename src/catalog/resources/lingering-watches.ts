import { callerKey, visibleKey, type Caller } from "../../surface/caller.ts";
import { unrefTimer } from "../../surface/system-clock.ts";
import type { ResourceWatches, Wanted, Watching } from "./resource-watches.ts";

/** Milliseconds for which a watch is kept: longer than an agent takes between two waits. */
const lingerMs = 30_000;

/** Watches that are kept; beyond it the oldest ends. */
const maxLingering = 256;

/** Watches that are kept for one caller who is known. */
const maxForOne = maxLingering / 4;

interface Lingering {
  readonly caller: Caller;
  readonly watching: Watching;
  readonly timer: NodeJS.Timeout;
}

/** Keeps watches for a while, so that they do not lapse between one wait and the next. Call `close()` when done. */
export class LingeringWatches {
  readonly #watches: ResourceWatches;
  readonly #lingering = new Map<string, Lingering>();

  constructor(watches: ResourceWatches) {
    this.#watches = watches;
  }

  get size(): number {
    return this.#lingering.size;
  }

  keep(wanted: Wanted): void {
    const { uri, caller } = wanted;
    const key = JSON.stringify([visibleKey(caller), uri]);
    // Joined before the former watch ends, so that the shared one goes on.
    const watching = this.#watches.join(wanted, {});
    this.#drop(key);
    const timer = unrefTimer(setTimeout(() => this.#drop(key), lingerMs));
    this.#lingering.set(key, { caller, watching, timer });
    if (!caller.isAnonymous) this.#trim(maxForOne, (other) => callerKey(other) === callerKey(caller));
    this.#trim(maxLingering, () => true);
  }

  /** Ends all watches. Callable twice. */
  close(): void {
    for (const key of [...this.#lingering.keys()]) this.#drop(key);
  }

  #trim(max: number, counts: (caller: Caller) => boolean): void {
    const counted = [...this.#lingering].filter(([, { caller }]) => counts(caller));
    const [oldest] = counted;
    if (counted.length > max && oldest !== undefined) this.#drop(oldest[0]);
  }

  #drop(key: string): void {
    const found = this.#lingering.get(key);
    if (found === undefined) return;
    this.#lingering.delete(key);
    clearTimeout(found.timer);
    found.watching.end();
  }
}

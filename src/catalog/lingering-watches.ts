import { unrefTimer } from "../surface/unref-timer.ts";
import { callerKey, visibleKey } from "../surface/caller-key.ts";
import type { Caller } from "../surface/caller.ts";
import type { ResourceWatches, Wanted, Watching } from "./resource-watches.ts";

/** How long a watch is kept that nobody waits for, in milliseconds: longer than an agent takes between two waits. */
const lingerMs = 30_000;

/** How many are kept; of more, those go first that nobody has waited for the longest. */
const maxLingering = 256;

/** How many are kept for one caller who is known. */
const maxForOne = maxLingering / 4;

interface Lingering {
  readonly caller: Caller;
  readonly watching: Watching;
  readonly timer: NodeJS.Timeout;
}

/** Watches that are kept for a while, so that they do not lapse between one wait and the next. Its maker closes it. */
export class LingeringWatches {
  readonly #watches: ResourceWatches;
  readonly #lingering = new Map<string, Lingering>();

  constructor(watches: ResourceWatches) {
    this.#watches = watches;
  }

  /** How many are kept. */
  get size(): number {
    return this.#lingering.size;
  }

  /** Keeps a caller's watch from now on for a while. */
  keep(wanted: Wanted): void {
    const { uri, caller } = wanted;
    const key = JSON.stringify([visibleKey(caller), uri]);
    // Joined before the former one ends, so that it is the same watch.
    const watching = this.#watches.join(wanted, {});
    this.#drop(key);
    const timer = unrefTimer(setTimeout(() => this.#drop(key), lingerMs));
    this.#lingering.set(key, { caller, watching, timer });
    if (!caller.isAnonymous) this.#trim(maxForOne, (other) => callerKey(other) === callerKey(caller));
    this.#trim(maxLingering, () => true);
  }

  /** Ends them all. Callable twice. */
  close(): void {
    for (const key of [...this.#lingering.keys()]) this.#drop(key);
  }

  /** Of those who count, drops the oldest where they are one too many. */
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

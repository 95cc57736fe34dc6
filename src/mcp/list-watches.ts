import type { Caller } from "../surface/caller.ts";
import type { Clock } from "../spine/clock.ts";
import { Throttle } from "../spine/throttle.ts";
import type { ListName } from "./faces.ts";

/** What {@link ListWatches} are made of. */
export interface ListWatchesSetting {
  /** A text that is the same for as long as a list is, for a caller; `undefined` where nobody gets in by their view. */
  readonly look: (list: ListName, caller: Caller) => string | undefined;
  /** The shortest time between two notices, in milliseconds. */
  readonly windowMs: number;
  readonly clock: Clock;
}

interface Listener {
  readonly list: ListName;
  readonly caller: Caller;
  readonly changed: () => void;
  /** What the list was when it was looked at last. */
  seen: string | undefined;
}

/**
 * Tells callers whose lists are others than they were, and nobody else: in the same tick after quiet, then at most once a window, and
 * once more after the last change. Whoever made it closes it.
 */
export class ListWatches {
  readonly #setting: ListWatchesSetting;
  readonly #throttle: Throttle;
  readonly #listeners = new Set<Listener>();
  #isTouched = false;

  constructor(setting: ListWatchesSetting) {
    this.#setting = setting;
    const { clock, windowMs } = setting;
    this.#throttle = new Throttle({ clock, windowMs, fire: () => this.#tell() });
  }

  /** Watches a list for a caller. Returns what stops it, after which nothing is told. */
  watch(list: ListName, caller: Caller, changed: () => void): () => void {
    const listener: Listener = { list, caller, changed, seen: this.#setting.look(list, caller) };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Notes that lists may have changed. They are compared when the running code has ended: a change that is undone is none. */
  touch(): void {
    if (this.#isTouched || this.#listeners.size === 0) return;
    this.#isTouched = true;
    queueMicrotask(() => {
      this.#isTouched = false;
      if (this.#listeners.size > 0) this.#throttle.touch();
    });
  }

  /** Forgets everybody. Callable twice. */
  close(): void {
    this.#listeners.clear();
    this.#throttle.dispose();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) {
      if (!this.#listeners.has(listener)) continue;
      const now = this.#setting.look(listener.list, listener.caller);
      // Whom nobody lets in any more is told nothing; what they missed is told when they are let in again.
      if (now === undefined || now === listener.seen) continue;
      listener.seen = now;
      listener.changed();
    }
  }
}

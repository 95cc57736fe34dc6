import type { HeldLink } from "./dial.ts";
import { SharedWatch, type Subscription, type Watched, type Watcher, type WatchSetting } from "./shared-watch.ts";

/** All that is watched over one link: one stream a key, whoever and however many watch it. */
export class Subscriptions<TLink extends HeldLink, TValue> {
  readonly #setting: WatchSetting<TLink>;
  readonly #watches = new Map<string, SharedWatch<TLink, TValue>>();

  constructor(setting: WatchSetting<TLink>) {
    this.#setting = setting;
  }

  /** How many keys are watched. */
  get size(): number {
    return this.#watches.size;
  }

  /** The newest value under a key, where somebody watches it and it is known to be the newest. */
  latest(key: string): { readonly value: TValue } | undefined {
    return this.#watches.get(key)?.latest;
  }

  /** Watches; works, and waits, also while there is no link. There is no notice for the snapshot that it opens with. */
  subscribe(watched: Watched<TLink, TValue>, watcher: Watcher): Subscription {
    return this.#watchOf(watched).add(watcher);
  }

  #watchOf(watched: Watched<TLink, TValue>): SharedWatch<TLink, TValue> {
    const { key } = watched;
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    // Forgotten before it is torn down: whoever watches the key again from within that begins a watch of its own.
    const emptied = (): void => void this.#watches.delete(key);
    const watch = new SharedWatch(watched, { ...this.#setting, emptied });
    this.#watches.set(key, watch);
    return watch;
  }
}

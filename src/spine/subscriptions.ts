import type { HeldLink } from "./dial.ts";
import { SharedWatch, type Watched, type Watcher, type WatchSetting } from "./shared-watch.ts";

/** One watcher's part in a watch. Whoever subscribed ends it. */
export interface Subscription<TValue> {
  /** The newest value, where it is known to be the newest. */
  readonly latest: { readonly value: TValue } | undefined;
  /** Grows with every change; comparable only within one {@link epoch}. */
  readonly version: number;
  /** Names the life of the watch: from its first watcher to its last. */
  readonly epoch: number;
  /** Ends it: nothing is told after this. Callable twice. */
  end(): void;
}

/** All that is watched over one link: one stream a key, whoever and however many watch it. */
export class Subscriptions<TLink extends HeldLink, TValue> {
  readonly #setting: WatchSetting<TLink>;
  readonly #watches = new Map<string, { readonly watch: SharedWatch<TLink, TValue>; readonly epoch: number }>();
  #lastEpoch = 0;

  constructor(setting: WatchSetting<TLink>) {
    this.#setting = setting;
  }

  /** How many keys are watched. */
  get size(): number {
    return this.#watches.size;
  }

  /** The newest value under a key, where somebody watches it and it is known to be the newest. */
  latest(key: string): { readonly value: TValue } | undefined {
    return this.#watches.get(key)?.watch.latest;
  }

  /** Watches; works, and waits, also while there is no link. There is no notice for the snapshot that it opens with. */
  subscribe(watched: Watched<TLink, TValue>, watcher: Watcher): Subscription<TValue> {
    const { key } = watched;
    let entry = this.#watches.get(key);
    if (entry === undefined) {
      this.#lastEpoch += 1;
      // Forgotten before it is torn down: whoever watches the key again from within that begins a watch of its own.
      const emptied = (): void => void this.#watches.delete(key);
      entry = { watch: new SharedWatch(watched, { ...this.#setting, emptied }), epoch: this.#lastEpoch };
      this.#watches.set(key, entry);
    }
    const { watch, epoch } = entry;
    const remove = watch.add(watcher);
    return {
      get latest() {
        return watch.latest;
      },
      get version() {
        return watch.version;
      },
      epoch,
      end: remove,
    };
  }
}

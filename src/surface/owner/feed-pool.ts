import { canonical } from "./canonical.ts";
import type { Feed } from "./feed.ts";

/** How many inputs of one member keep a ring at once; the least recently used one without waiters goes first. */
const maxFeeds = 64;

/** One feed an input, made on first use, bounded. */
export class FeedPool {
  readonly #make: (input: unknown) => Feed;
  readonly #feeds = new Map<string, Feed>();

  constructor(make: (input: unknown) => Feed) {
    this.#make = make;
  }

  /** The feed of a validated input. */
  of(input: unknown): Feed {
    const key = canonical(input);
    const feed = this.#feeds.get(key) ?? this.#make(input);
    // Re-inserted, so that a map's own order is the order of use.
    this.#feeds.delete(key);
    this.#feeds.set(key, feed);
    if (this.#feeds.size > maxFeeds) this.#evict(key);
    return feed;
  }

  #evict(keep: string): void {
    for (const [key, feed] of this.#feeds) {
      if (key === keep || feed.wanted) continue;
      this.#feeds.delete(key);
      void feed.stop();
      return;
    }
  }
}

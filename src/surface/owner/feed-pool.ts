import { canonical } from "./canonical.ts";
import type { Feed, FeedUse } from "./feed.ts";

/** How many inputs of one member keep a ring at once; the least recently used one that nobody uses goes first. */
const maxFeeds = 64;

/** One feed an input, made and started on first use, bounded. */
export class FeedPool {
  readonly #make: (input: unknown) => Feed;
  readonly #feeds = new Map<string, Feed>();

  constructor(make: (input: unknown) => Feed) {
    this.#make = make;
  }

  /** Makes sure that the feed of a validated input runs. */
  start(input: unknown): void {
    this.#touch(canonical(input), input).begin();
  }

  /**
   * Runs something on the feed of a validated input, which is begun where it was not and kept for as long as that takes.
   * `run` is called at once, before a handler that is started here has had its turn.
   */
  async use<TResult>(input: unknown, run: (feed: Feed) => TResult | Promise<TResult>): Promise<TResult> {
    const { feed, release } = this.hold(input, "asked");
    feed.begin();
    try {
      return await run(feed);
    } finally {
      release();
    }
  }

  /** Keeps the feed of a validated input for its caller, who begins it, and releases it once. */
  hold(input: unknown, use: FeedUse): { readonly feed: Feed; readonly release: () => void } {
    const key = canonical(input);
    const feed = this.#touch(key, input);
    const end = feed.hold(use);
    const release = (): void => {
      end();
      // A long use ends later than it began: it is recent all the same.
      this.#touch(key, input);
      this.#trim();
    };
    return { feed, release };
  }

  #touch(key: string, input: unknown): Feed {
    const feed = this.#feeds.get(key) ?? this.#make(input);
    // Re-inserted, so that a map's own order is the order of use.
    this.#feeds.delete(key);
    this.#feeds.set(key, feed);
    return feed;
  }

  #trim(): void {
    for (const [key, feed] of this.#feeds) {
      if (this.#feeds.size <= maxFeeds) return;
      if (feed.wanted) continue;
      this.#feeds.delete(key);
      void feed.stop();
    }
  }
}

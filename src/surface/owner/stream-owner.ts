import { SurfaceError } from "../../errors.ts";
import type { UseOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { Feed } from "./feed.ts";
import { FeedPool } from "./feed-pool.ts";
import { Listening, type ListenHandler } from "./listening.ts";
import type { OwnerSetting } from "./owner.ts";
import { LinkedAbort } from "../../spine/linked-abort.ts";

/** Owns a stream's handler: opens it for each listener, and keeps the newest frame of every input in use. */
export class StreamOwner {
  readonly kind = "stream";
  readonly #listening: Listening;
  readonly #setting: OwnerSetting;
  readonly #feeds: FeedPool;
  readonly #where: string;

  constructor(member: MemberOfKind<"stream">, handler: ListenHandler, setting: OwnerSetting) {
    this.#where = `stream "${setting.key}"`;
    this.#setting = setting;
    this.#listening = new Listening(member, handler, { ...setting, where: this.#where });
    this.#feeds = new FeedPool((input) => this.#feed(input));
  }

  /** Every frame, for one listener: each gets an iteration of its own. */
  open(input: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#listening.openUnchecked(input, use);
  }

  /**
   * The newest frame of a shared iteration, which runs from the first question on; waits for the first frame.
   *
   * @throws SurfaceError `ABSENT` when the stream ended without a frame, `ABORTED` when the signal fired first.
   */
  async latest(input: unknown, use: UseOptions): Promise<unknown> {
    const feed = this.#feeds.of(await this.#listening.input(input));
    feed.ensure();
    const abort = new LinkedAbort(use.signal, this.#setting.scope.signal);
    try {
      while (feed.ring.last === 0 && feed.running && !abort.signal.aborted) await feed.change(abort.signal);
      const newest = feed.ring.at(feed.ring.last);
      if (newest !== undefined) return newest.value;
    } finally {
      abort.dispose();
    }
    if (abort.signal.aborted) throw new SurfaceError("ABORTED", `Reading ${this.#where}: the call was cancelled`);
    throw new SurfaceError("ABSENT", `Reading ${this.#where}: it ended without a frame`);
  }

  #feed(input: unknown): Feed {
    return new Feed({
      capacity: 1,
      scope: this.#setting.scope,
      open: () => this.#listening.open(input, {}),
    });
  }
}

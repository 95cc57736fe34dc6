import { SurfaceError } from "../../errors.ts";
import { LinkedAbort } from "../../spine/linked-abort.ts";
import type { EventPage, EventWait, UseOptions, WaitOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { fromCursor, toCursor } from "./cursor.ts";
import { Feed } from "./feed.ts";
import { FeedPool } from "./feed-pool.ts";
import { Listening, type ListenHandler } from "./listening.ts";
import type { OwnerSetting } from "./owner.ts";

/** How many occurrences are kept for those who were not waiting. */
const ringCapacity = 64;

/** How long a wait lasts when its caller does not say, in milliseconds. */
export const defaultWaitMs = 25_000;

/** The longest wait, in milliseconds. */
export const maxWaitMs = 60_000;

/** Owns an event's handler: keeps the last occurrences, and lets callers wait for the next one after a cursor. */
export class EventOwner {
  readonly kind = "event";
  readonly #member: MemberOfKind<"event">;
  readonly #listening: Listening;
  readonly #setting: OwnerSetting;
  readonly #feeds: FeedPool;
  readonly #where: string;

  constructor(member: MemberOfKind<"event">, handler: ListenHandler, setting: OwnerSetting) {
    this.#where = `event "${setting.key}"`;
    this.#member = member;
    this.#setting = setting;
    this.#listening = new Listening(member, handler, { ...setting, where: this.#where });
    this.#feeds = new FeedPool((input) => this.#feed(input));
    // Without input there is one ring, and it starts now: what happens before the first question is kept too.
    if (member.input === undefined) this.#feeds.of(undefined).ensure();
  }

  /** Every occurrence from now on, for one listener. */
  open(input: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#listening.openUnchecked(input, use);
  }

  async recent(input: unknown, _use: UseOptions): Promise<EventPage> {
    const feed = await this.#use(input);
    return { cursor: toCursor(this.#setting.generation, feed.ring.last), occurrences: feed.ring.values() };
  }

  /**
   * The next occurrence after `since`, or `timed_out`.
   *
   * @throws SurfaceError `ABORTED` when the signal fires first, `VALIDATION_ERROR` for a time-out out of range.
   */
  async wait(input: unknown, use: WaitOptions): Promise<EventWait> {
    const timeoutMs = this.#timeout(use);
    const feed = await this.#use(input);
    const start = this.#start(feed, use.since);
    if (start.reset) return { status: "timed_out", cursor: this.#cursor(start.after), reset: true };
    if (feed.ring.last <= start.after) await this.#waitFor(feed, start.after, { ...use, timeoutMs });
    return this.#answer(feed, start.after);
  }

  #timeout({ timeoutMs = defaultWaitMs }: WaitOptions): number {
    if (Number.isFinite(timeoutMs) && timeoutMs >= 0 && timeoutMs <= maxWaitMs) return timeoutMs;
    const message = `${timeoutMs} is not between 0 and ${maxWaitMs} milliseconds`;
    throw new SurfaceError("VALIDATION_ERROR", `Waiting for ${this.#where}: the time-out is out of range`, {
      issues: [{ path: "timeout_ms", message }],
    });
  }

  #start(feed: Feed, since: string | undefined): { readonly after: number; readonly reset: boolean } {
    const { first, last } = feed.ring;
    if (since === undefined) {
      const replays = this.#member.replayLast && last > 0;
      return { after: replays ? last - 1 : last, reset: false };
    }
    const start = fromCursor(since, { generation: this.#setting.generation, first, last });
    return { after: start.number, reset: start.kind === "reset" };
  }

  async #waitFor(feed: Feed, after: number, use: WaitOptions & { readonly timeoutMs: number }): Promise<void> {
    const abort = new LinkedAbort(use.signal, this.#setting.scope.signal);
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), use.timeoutMs);
    const either = new LinkedAbort(abort.signal, deadline.signal);
    try {
      while (feed.ring.last <= after && !either.signal.aborted) await feed.change(either.signal);
    } finally {
      clearTimeout(timer);
      either.dispose();
      abort.dispose();
    }
    if (abort.signal.aborted) throw new SurfaceError("ABORTED", `Waiting for ${this.#where}: the call was cancelled`);
  }

  /** The oldest kept occurrence after a number, with how many before it were no longer kept. */
  #answer(feed: Feed, after: number): EventWait {
    const number = Math.max(after + 1, feed.ring.first);
    const found = feed.ring.at(number);
    if (found === undefined) return { status: "timed_out", cursor: this.#cursor(after) };
    const missed = number - after - 1;
    return {
      status: "fired",
      cursor: this.#cursor(number),
      occurrence: found.value,
      ...(missed > 0 ? ({ missed, reset: true } as const) : {}),
    };
  }

  #cursor(number: number): string {
    return toCursor(this.#setting.generation, number);
  }

  async #use(input: unknown): Promise<Feed> {
    const feed = this.#feeds.of(await this.#listening.input(input));
    feed.ensure();
    return feed;
  }

  #feed(input: unknown): Feed {
    return new Feed({
      capacity: ringCapacity,
      scope: this.#setting.scope,
      open: () => this.#listening.open(input, {}),
    });
  }
}

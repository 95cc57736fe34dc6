import { SurfaceError } from "../../errors.ts";
import { LinkedAbort, toAborted } from "../../spine/signals.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import type { EventPage, EventWait, UseOptions, WaitOptions } from "../client.ts";
import type { MemberOfKind } from "../member.ts";
import { RelayedError } from "../relayed.ts";
import { isDerived } from "../implementation.ts";
import { systemClock } from "../system-clock.ts";
import { EventMemory } from "./event-memory.ts";
import { Feed } from "./feed.ts";
import { FeedPool } from "./feed-pool.ts";
import { Listening, type ListenHandler } from "./listening.ts";
import type { OwnerSetting } from "./owner.ts";
import { fromCursor, toCursor, type Start } from "./ring.ts";

/** How many occurrences are kept for those who were not waiting. */
const ringCapacity = 64;

/** How long a wait lasts when its caller does not say, in milliseconds. */
export const defaultWaitMs = 25_000;

/** The longest wait, in milliseconds. */
export const maxWaitMs = 60_000;

/** How long it is waited at least for what is kept further up, in milliseconds: longer than a connection is waited for. */
const landMs = 10_000;

/**
 * Milliseconds after its last use for which the handler of one input runs on: longer than an agent takes between two waits.
 */
const idleMs = 30_000;

/** The same for an event that is derived: it goes on at its cursor, and its upstream keeps what happens meanwhile. */
const derivedIdleMs = 1000;

/** How long something is waited for. */
interface Term {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * Owns an event's handler: keeps the last occurrences, and lets callers wait for the next one after a cursor.
 *
 * A handler that ends has said what there is: its occurrences are kept, and looking at them or watching them does not
 * start it again. One who waits for more than is kept does. A handler that fails is started again by the next use, or by
 * itself after a while. What it said is never lost; what happens while it does not run is seen by nobody, so one that
 * must miss nothing loops inside itself.
 *
 * The handler of an input is ended a while after its last use, since nobody says when an input is wanted no more. What it
 * has said stays kept; a wait from a cursor of before answers at once that it was reset.
 *
 * One that is derived tells first what is kept further up: until then nobody is answered. To those who wait for what
 * happens next that is what has happened before.
 */
export class EventOwner {
  readonly kind = "event";
  readonly #member: MemberOfKind<"event">;
  readonly #listening: Listening;
  readonly #setting: OwnerSetting;
  readonly #feeds: FeedPool;
  readonly #where: string;
  readonly #isDerived: boolean;

  constructor(member: MemberOfKind<"event">, handler: ListenHandler, setting: OwnerSetting) {
    this.#where = `event "${setting.key}"`;
    this.#member = member;
    this.#setting = setting;
    this.#isDerived = isDerived(handler);
    this.#listening = new Listening(member, handler, { ...setting, where: this.#where });
    this.#feeds = new FeedPool((input) => this.#feed(input));
  }

  /** Without input there is one ring, and it starts now: what happens before the first question is kept too. */
  start(): void {
    if (this.#member.input === undefined) this.#feeds.start(undefined);
  }

  /** Every occurrence from now on, for one listener. */
  open(input: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#listening.openUnchecked(input, use);
  }

  /**
   * The occurrences that are still kept, with what the handler has said by now among them: nothing of before comes after
   * its cursor.
   *
   * @throws SurfaceError `VALIDATION_ERROR`; `UNAVAILABLE` while what it is derived from has never been reached, and what
   * that may be said to have failed with otherwise; `ABORTED` or `CLOSED` when the signal or the surface ends that first.
   */
  async recent(input: unknown, use: UseOptions): Promise<EventPage> {
    const valid = await this.#listening.input(input);
    return this.#feeds.use(valid, async (feed) => {
      await this.#land(feed, use, landMs);
      return toPage(feed);
    });
  }

  /**
   * What {@link recent} gives, then the same after each further occurrence, skipping what nobody waited for. Goes on
   * until its signal fires or the surface closes: of a handler that has ended it has nothing more to say, and one that
   * failed is started again.
   */
  watchRecent(input: unknown, use: UseOptions): AsyncIterable<EventPage> {
    return new OwnedIterator({
      open: (signal) => this.#follow(input, signal),
      scope: this.#setting.scope,
      signal: use.signal,
    });
  }

  async *#follow(input: unknown, signal: AbortSignal): AsyncGenerator<EventPage> {
    const valid = await this.#listening.input(input);
    // Its watcher has gone meanwhile: the handler is not to start.
    if (signal.aborted) return;
    const { feed, release } = this.#feeds.hold(valid, "watched");
    try {
      feed.begin();
      // That it fails was told to the log, and is told to whoever asks; it is started again by itself.
      await feed.said();
      await feed.landed(signal).catch(() => {});
      while (feed.isLanding && !signal.aborted) await feed.change(signal).catch(() => {});
      while (!signal.aborted) {
        const shown = feed.ring.last;
        yield toPage(feed);
        // That the handler fails is no news of what happened, and was told to the log.
        while (feed.ring.last === shown && !signal.aborted) await feed.change(signal).catch(() => {});
      }
    } finally {
      release();
    }
  }

  /**
   * The next occurrence after `since`, or `timed_out`.
   *
   * @throws SurfaceError `ABORTED` when the signal fires first, `CLOSED` when the surface closes first,
   * `VALIDATION_ERROR` for an input that does not fit or a time-out out of range, `INTERNAL` when the handler fails, and
   * what one that is derived may be said to have failed with.
   */
  async wait(input: unknown, use: WaitOptions): Promise<EventWait> {
    const timeoutMs = this.#timeout(use);
    const valid = await this.#listening.input(input);
    return this.#feeds.use(valid, async (feed) => {
      // What the handler has said by now is newer than what the ring has of it.
      const isNewer = this.#member.replayLast && use.since === undefined;
      const spentMs = isNewer || feed.isLanding ? await this.#land(feed, use, Math.max(timeoutMs, landMs)) : 0;
      const start = this.#start(feed, use.since);
      const { number } = start;
      if (start.kind === "reset") {
        return { status: "timed_out", cursor: toCursor(feed.generation, number), reset: true };
      }
      const leftMs = Math.max(0, timeoutMs - spentMs);
      if (feed.ring.last <= number) await this.#waitFor(feed, number, { signal: use.signal, timeoutMs: leftMs });
      return toAnswer(feed, number);
    });
  }

  #timeout({ timeoutMs = defaultWaitMs }: WaitOptions): number {
    if (Number.isFinite(timeoutMs) && timeoutMs >= 0 && timeoutMs <= maxWaitMs) return timeoutMs;
    const message = `${timeoutMs} is not between 0 and ${maxWaitMs} milliseconds`;
    throw new SurfaceError("VALIDATION_ERROR", `Waiting for ${this.#where}: the time-out is out of range`, {
      issues: [{ path: "timeout_ms", message }],
    });
  }

  #start(feed: Feed, since: string | undefined): Start {
    const { first, last } = feed.ring;
    if (since !== undefined) {
      const start = fromCursor(since, { generation: feed.generation, first, last });
      return start.kind === "after" && feed.ring.isCut(start.number) ? { kind: "reset", number: last } : start;
    }
    const newest = this.#member.replayLast ? feed.ring.newest : undefined;
    return { kind: "after", number: newest === undefined ? last : newest.number - 1 };
  }

  async #waitFor(feed: Feed, after: number, term: Term): Promise<void> {
    feed.ensure();
    await this.#within(term, async (signal) => {
      while (feed.ring.last <= after && !signal.aborted) await feed.change(signal);
    });
  }

  /** Waits until the ring has what there is to look at; returns how long that took where it had to be told first. */
  async #land(feed: Feed, use: UseOptions, timeoutMs: number): Promise<number> {
    await feed.said();
    if (!feed.isLanding) return 0;
    const begun = systemClock.now();
    await this.#within({ signal: use.signal, timeoutMs }, (signal) => feed.landed(signal));
    if (feed.isLanding) throw new RelayedError("UNAVAILABLE", "what this comes from did not answer");
    return systemClock.now() - begun;
  }

  /** Waits by a signal that fires when the time is over; throws when its caller's or the surface's has fired before. */
  async #within(use: Term, wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new LinkedAbort(use.signal, this.#setting.scope.signal);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      abort.abort();
    }, use.timeoutMs);
    try {
      await wait(abort.signal);
    } finally {
      clearTimeout(timer);
      abort.dispose();
    }
    if (abort.signal.aborted && !late) throw toAborted(abort.signal, `Waiting for ${this.#where}`);
  }

  #feed(input: unknown): Feed {
    const memory = new EventMemory();
    if (this.#isDerived) memory.expect();
    return new Feed({
      memory,
      capacity: ringCapacity,
      rearms: true,
      ...(this.#member.input === undefined ? {} : { idleMs: this.#isDerived ? derivedIdleMs : idleMs }),
      scope: this.#setting.scope,
      open: () => this.#listening.open(input, memory),
    });
  }
}

function toPage({ ring, generation }: Feed): EventPage {
  return { cursor: toCursor(generation, ring.last), occurrences: ring.values() };
}

/** The oldest kept occurrence after a number, with how many before it were no longer kept. */
function toAnswer({ ring, generation }: Feed, after: number): EventWait {
  const found = ring.next(after);
  if (found === undefined) return { status: "timed_out", cursor: toCursor(generation, after) };
  const { missed, number, isReset } = found;
  return {
    status: "fired",
    cursor: toCursor(generation, number),
    occurrence: found.value,
    ...(missed > 0 ? { missed } : {}),
    ...(missed > 0 || isReset ? { reset: true } : {}),
  };
}

import { SurfaceError } from "../../errors.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { LinkedAbort, createAbortedError } from "../../spine/signals.ts";
import type { EventPage, EventWait, UseOptions, WaitOptions } from "../client.ts";
import { isDerived } from "../implementation.ts";
import type { MemberOfKind } from "../member.ts";
import { RelayedError } from "../relayed.ts";
import { systemClock, waitingClock } from "../system-clock.ts";
import { Feed, FeedPool } from "./feed.ts";
import { HandlerRunner, type StreamHandler } from "./listening.ts";
import type { OwnerDeps } from "./handler-context.ts";
import { EventMemory, fromCursor, toCursor, type Start } from "./ring.ts";
import { nextTurn } from "./waiting.ts";

/** Number of occurrences that are kept for later reads and waits. */
const ringCapacity = 64;

/** Milliseconds that a wait lasts if its caller names no time. */
export const defaultWaitMs = 25_000;

/** Longest wait, in milliseconds. */
export const maxWaitMs = 60_000;

/** Milliseconds that a read waits for the past of a derived event: longer than for a connection. */
const replayMs = 10_000;

/** Milliseconds after its last use until the handler of one input is ended: longer than an agent takes between two waits. */
const idleMs = 30_000;

/** The same for a derived event, which goes on at its cursor: its upstream keeps the occurrences of the meantime. */
const derivedIdleMs = 1000;

/**
 * Owns the handler of an event: keeps the last occurrences, and lets callers wait for the next one after a cursor.
 * - A handler that has ended is started by a wait for more than the kept occurrences. A handler that failed is started by the next use, or
 *   after a delay. Occurrences while it does not run are lost.
 * - The handler of an input is ended a while after its last use. A wait from an older cursor then answers at once with a reset.
 * - A derived handler first replays what upstream has kept. Reads and waits are answered after that; a wait without a cursor takes it as
 *   past.
 */
export class EventOwner {
  readonly kind = "event";
  readonly #member: MemberOfKind<"event">;
  readonly #runner: HandlerRunner;
  readonly #deps: OwnerDeps;
  readonly #feeds: FeedPool;
  readonly #isDerived: boolean;

  constructor(member: MemberOfKind<"event">, handler: StreamHandler, deps: OwnerDeps) {
    this.#member = member;
    this.#deps = deps;
    this.#isDerived = isDerived(handler);
    this.#runner = new HandlerRunner(member, handler, deps);
    this.#feeds = new FeedPool((input) => this.#createFeed(input));
  }

  /** Starts the only ring of an event without input, so that occurrences before the first wait are kept too. */
  start(): void {
    if (this.#member.input === undefined) this.#feeds.start(undefined);
  }

  open(input: unknown, use: UseOptions): AsyncIterable<unknown> {
    return this.#runner.openUnchecked(input, use);
  }

  /** Returns the kept occurrences, with those yielded by now. @throws SurfaceError, also `UNAVAILABLE` while upstream was never reached. */
  async recent(input: unknown, use: UseOptions): Promise<EventPage> {
    const valid = await this.#runner.input(input);
    return this.#feeds.use(valid, async (feed) => {
      feed.begin();
      await this.#replay(feed, use, replayMs);
      return toPage(feed);
    });
  }

  /** Yields what {@link recent} returns, and again after each occurrence; may skip to the newest. Outlasts failures of the handler. */
  watchRecent(input: unknown, use: UseOptions): AsyncIterable<EventPage> {
    const { scope } = this.#deps;
    return new OwnedIterator({ open: (signal) => this.#follow(input, signal), scope, signal: use.signal });
  }

  async *#follow(input: unknown, signal: AbortSignal): AsyncGenerator<EventPage> {
    const valid = await this.#runner.input(input);
    // The watcher has left meanwhile: the handler must not start.
    if (signal.aborted) return;
    const { feed, release } = this.#feeds.hold(valid, "watch");
    // A failure of the handler is logged, and no news for a watcher: the handler is restarted.
    const change = async (): Promise<void> => feed.changes.next(signal).catch(() => {});
    try {
      feed.begin();
      await nextTurn();
      await feed.replayed(signal).catch(() => {});
      while (feed.isReplaying && !signal.aborted) await change();
      while (!signal.aborted) {
        const shown = feed.ring.last;
        yield toPage(feed);
        while (feed.ring.last === shown && !signal.aborted) await change();
      }
    } finally {
      release();
    }
  }

  /** Returns the next occurrence after `since`, or `timed_out`. @throws SurfaceError `ABORTED`, `CLOSED`, `VALIDATION_ERROR`, `INTERNAL`. */
  async wait(input: unknown, use: WaitOptions): Promise<EventWait> {
    const timeoutMs = this.#timeoutOf(use);
    const valid = await this.#runner.input(input);
    return this.#feeds.use(valid, async (feed) => {
      feed.begin();
      // Occurrences that the handler has yielded may not be in the ring yet.
      const needsNewest = this.#member.replayLast && use.since === undefined;
      const mustReplay = needsNewest || feed.isReplaying;
      const spentMs = mustReplay ? await this.#replay(feed, use, Math.max(timeoutMs, replayMs)) : 0;
      const { kind, number } = this.#startOf(feed, use.since);
      if (kind === "reset") return { status: "timed_out", cursor: toCursor(feed.generation, number), reset: true };
      if (feed.ring.last <= number) await this.#waitFor(feed, number, { ...use, timeoutMs: timeoutMs - spentMs });
      return toAnswer(feed, number);
    });
  }

  #timeoutOf({ timeoutMs = defaultWaitMs }: WaitOptions): number {
    if (Number.isFinite(timeoutMs) && timeoutMs >= 0 && timeoutMs <= maxWaitMs) return timeoutMs;
    const message = `${timeoutMs} is not between 0 and ${maxWaitMs} milliseconds`;
    throw new SurfaceError("VALIDATION_ERROR", `Cannot wait for ${this.#runner.where}: the time-out is out of range`, {
      issues: [{ path: "timeout_ms", message }],
    });
  }

  #startOf(feed: Feed, since: string | undefined): Start {
    const { generation, ring } = feed;
    const { first, last } = ring;
    if (since !== undefined) {
      const start = fromCursor(since, { generation, first, last });
      return start.kind === "after" && ring.isCut(start.number) ? { kind: "reset", number: last } : start;
    }
    const newest = this.#member.replayLast ? ring.newest : undefined;
    return { kind: "after", number: newest === undefined ? last : newest.number - 1 };
  }

  async #waitFor(feed: Feed, after: number, use: WaitOptions): Promise<void> {
    feed.ensure();
    await this.#within(use, async (signal) => {
      while (feed.ring.last <= after && !signal.aborted) await feed.changes.next(signal);
    });
  }

  /** Waits until the ring has all occurrences of the past. Returns the milliseconds that a replay took. */
  async #replay(feed: Feed, use: UseOptions, timeoutMs: number): Promise<number> {
    // Occurrences take a few microtasks from the handler's `yield` into the ring.
    await nextTurn();
    if (!feed.isReplaying) return 0;
    const begun = systemClock.now();
    await this.#within({ ...use, timeoutMs }, (signal) => feed.replayed(signal));
    if (feed.isReplaying) throw new RelayedError("UNAVAILABLE", "what this comes from did not answer");
    return systemClock.now() - begun;
  }

  /** Waits with a signal that fires when the time is over. Throws if the signal of the caller or of the surface fired before. */
  async #within({ signal, timeoutMs = 0 }: WaitOptions, wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new LinkedAbort(signal, this.#deps.scope.signal);
    let isLate = false;
    const stopTimer = waitingClock.after(Math.max(0, timeoutMs), () => {
      isLate = true;
      abort.abort();
    });
    try {
      await wait(abort.signal);
    } finally {
      stopTimer();
      abort.dispose();
    }
    if (abort.signal.aborted && !isLate) throw createAbortedError(abort.signal, `Waiting for ${this.#runner.where}`);
  }

  #createFeed(input: unknown): Feed {
    const memory = new EventMemory();
    if (this.#isDerived) memory.expectReplay();
    return new Feed({
      memory,
      capacity: ringCapacity,
      restarts: true,
      ...(this.#member.input === undefined ? {} : { idleMs: this.#isDerived ? derivedIdleMs : idleMs }),
      scope: this.#deps.scope,
      open: () => this.#runner.open(input, memory),
    });
  }
}

function toPage({ ring, generation }: Feed): EventPage {
  return { cursor: toCursor(generation, ring.last), occurrences: ring.values() };
}

/** Returns the oldest kept occurrence after a number, with the number of lost ones before it. */
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

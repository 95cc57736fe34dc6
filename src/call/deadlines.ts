import { toUnanswered } from "../catalog/own-refusals.ts";
import { SurfaceError } from "../errors.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { unrefTimer } from "../surface/system-clock.ts";
import { Places, type Place } from "../spine/collections.ts";
import type { CallContext } from "./call-context.ts";
import type { OpenQuestion } from "./questions.ts";
import type { PartOf } from "./nesting.ts";

/** Returns a question of a call, or of a part of it, that the client has not answered. */
function openQuestionOf(call: CallContext): OpenQuestion | undefined {
  const own = call.trail?.openQuestion;
  return own ?? [...call.parts].map(openQuestionOf).find((question) => question !== undefined);
}

/** Ends a call whose time is over. */
function expire(call: CallContext, message: string): void {
  const question = openQuestionOf(call);
  if (question === undefined) return call.abort(new SurfaceError("TIMEOUT", message));
  const openMs = Math.round(performance.now() - question.since);
  call.abort(toUnanswered(`the client had not answered ${question.name} after ${openMs} ms`));
}

/**
 * The deadlines of all calls of one length, with one timer between them. They fall due in the order in which they were
 * added, so only the oldest needs a timer; a timer a call would cost more than the call.
 */
class Lane {
  readonly #calls = new Places<CallContext>();
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(call: CallContext): Place<CallContext> {
    this.#timer ??= this.#arm(this.#timeoutMs);
    return this.#calls.add(call);
  }

  remove(place: Place<CallContext>): void {
    this.#calls.remove(place);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#calls.clear();
  }

  #arm(delayMs: number): NodeJS.Timeout {
    return unrefTimer(setTimeout(() => this.#sweep(), delayMs));
  }

  #sweep(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const place of this.#calls.list()) {
      const call = place.value;
      // Timers may fire a little early; whole milliseconds are as fine as they get.
      if (call.dueAt - now >= 1) {
        this.#timer = this.#arm(call.dueAt - now);
        return;
      }
      // One that was aborted before may have ended others.
      if (!this.#calls.remove(place)) continue;
      expire(call, `Calling: no answer within ${this.#timeoutMs} ms`);
    }
  }
}

/** The time of a call whose client is asked. */
export interface HeldTime {
  /** For how many questions it stands still now. */
  count: number;
  /** Since when, as `performance.now()` counts it. */
  since: number;
  /** How long it has stood before. */
  ms: number;
}

/** The longest delay that a timer can have, in milliseconds. */
const maxDelayMs = 2 ** 31 - 1;

/** How long a call may take. */
export type CallTime = Pick<ToolEntry, "timeoutMs" | "countsQuestions">;

function nothing(): void {}

function isHeld({ held }: CallContext): boolean {
  return held !== undefined && held.count > 0;
}

function deadlineOf(call: CallContext, now: number): number {
  return call.deadline === undefined ? Number.POSITIVE_INFINITY : call.deadline + Math.ceil(call.standingMs(now));
}

/**
 * Aborts calls that take too long, and nested calls no later than the calls that they are within. A deadline that an author has
 * set always holds; a default one stands still while the client is being asked.
 */
export class Deadlines {
  readonly #lanes = new Map<number, Lane>();
  readonly #timers = new Set<NodeJS.Timeout>();

  #isClosed = false;

  /** Watches a call until its `unwatch` is called, and says when it is due. */
  watch(call: CallContext, { timeoutMs, countsQuestions }: CallTime): void {
    const { partOf } = call;
    const dueAt = performance.now() + timeoutMs;
    call.dueAt = dueAt;
    if (countsQuestions === true) call.latestAt = dueAt;
    call.unwatch = partOf === undefined ? this.#watchRoot(call, timeoutMs) : this.#watchPart(call, partOf, timeoutMs);
  }

  /**
   * Stops the time of a call, and of the calls that it is within, while the client is being asked. Returns a function that lets it
   * go on with the rest. A deadline that an author has set is not put off.
   */
  hold(call: CallContext): () => void {
    const chain: CallContext[] = [];
    for (let one: CallContext | undefined = call; one !== undefined; one = one.partOf?.call) {
      if (!one.isOver && one.dueAt < one.latestAt) chain.push(one);
    }
    for (const one of chain) this.#stop(one);
    return () => {
      for (const one of chain.splice(0)) this.#goOn(one);
    };
  }

  #stop(call: CallContext): void {
    const now = performance.now();
    call.held ??= { count: 0, since: now, ms: 0 };
    call.held.count += 1;
    if (call.held.count > 1) return;
    call.held.since = now;
    // The other parts that would have ended with it are as late as they were.
    for (const part of call.parts) if (part.unwatch === nothing) part.unwatch = this.#alone(part, part.dueAt - now);
    call.unwatch?.();
    call.unwatch = call.latestAt < Number.POSITIVE_INFINITY ? this.#alone(call, call.latestAt - now) : undefined;
  }

  #goOn(call: CallContext): void {
    const { held } = call;
    if (held === undefined) return;
    held.count -= 1;
    if (held.count > 0) return;
    const now = performance.now();
    const passed = Math.min(now - held.since, call.latestAt - call.dueAt);
    held.ms += passed;
    if (call.deadline === undefined) return;
    call.dueAt += passed;
    call.deadline += Math.ceil(passed);
    if (call.isOver || this.#isClosed) return;
    call.tracked?.begin(call.deadline);
    call.unwatch?.();
    call.unwatch = this.#alone(call, call.dueAt - now);
  }

  #watchRoot(call: CallContext, timeoutMs: number): () => void {
    // Asking for the time costs a small call as much as anything else that is done for it.
    call.deadline = Math.ceil((call.tracked?.requestedAt ?? Date.now()) + timeoutMs);
    return this.#inLane(call, timeoutMs);
  }

  /** Forgets every call and clears every timer. */
  close(): void {
    this.#isClosed = true;
    for (const lane of this.#lanes.values()) lane.clear();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #watchPart(call: CallContext, part: PartOf, timeoutMs: number): () => void {
    const { call: above, deadlineAt = Number.POSITIVE_INFINITY, countsQuestions, onAbort } = part;
    const own = call.dueAt;
    const now = own - timeoutMs;
    const asked = deadlineAt < own ? deadlineAt : own;
    const aboveDueAt = above.dueAt + above.standingMs(now);
    call.dueAt = Math.min(asked, aboveDueAt);
    call.latestAt = Math.min(call.latestAt, above.latestAt);
    if (countsQuestions === true && deadlineAt < call.latestAt) call.latestAt = deadlineAt;
    call.deadline = Math.min(Math.ceil(Date.now() + call.dueAt - now), deadlineOf(above, now));
    // It ends with the call above it: unless that one is over before its time, or stands still, and this one goes on.
    if (aboveDueAt <= asked && onAbort !== "continue-running" && !isHeld(above)) return nothing;
    // Of its own length only: lanes of any other would be as many as there are calls.
    return asked === own && own < aboveDueAt ? this.#inLane(call, timeoutMs) : this.#alone(call, call.dueAt - now);
  }

  #inLane(call: CallContext, timeoutMs: number): () => void {
    let lane = this.#lanes.get(timeoutMs);
    if (lane === undefined) {
      lane = new Lane(timeoutMs);
      this.#lanes.set(timeoutMs, lane);
    }
    const found = lane;
    const place = found.add(call);
    return () => found.remove(place);
  }

  #alone(call: CallContext, delayMs: number): () => void {
    const abort = (): void => expire(call, "Calling: no answer before its deadline");
    if (delayMs <= 0) {
      abort();
      return nothing;
    }
    const forget = (): void => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
    const timer = unrefTimer(
      setTimeout(
        () => {
          forget();
          abort();
          // A timer of Node's fires at once where its delay is longer than this.
        },
        Math.min(delayMs, maxDelayMs),
      ),
    );
    this.#timers.add(timer);
    return forget;
  }
}

import { createUnansweredError } from "../catalog/own-refusals.ts";
import { SurfaceError } from "../errors.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { unrefTimer } from "../surface/system-clock.ts";
import { Places, type Place } from "../spine/collections.ts";
import type { CallContext } from "./call-context.ts";
import type { OpenInputRequest } from "./questions.ts";
import type { ParentLink } from "./nesting.ts";

/** Returns an unanswered question of a call or one of its nested calls. */
function openQuestionOf(call: CallContext): OpenInputRequest | undefined {
  const own = call.trail?.openQuestion;
  return own ?? [...call.children].map(openQuestionOf).find((question) => question !== undefined);
}

/** Ends a call whose deadline has passed. */
function expire(call: CallContext, message: string): void {
  const question = openQuestionOf(call);
  if (question === undefined) return call.abort(new SurfaceError("TIMEOUT", message));
  const openMs = Math.round(performance.now() - question.since);
  call.abort(createUnansweredError(`${question.answerer} had not answered ${question.name} after ${openMs} ms`));
}

/** The calls of one timeout, with one timer: they fall due in the order in which they were added. A timer a call costs more than the call. */
class TimeoutQueue {
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
      // Timers may fire a little early. Their unit is milliseconds.
      if (call.dueAt - now >= 1) {
        this.#timer = this.#arm(call.dueAt - now);
        return;
      }
      // The end of one call may have removed others.
      if (!this.#calls.remove(place)) continue;
      expire(call, `Cannot finish a call: no answer within ${this.#timeoutMs} ms`);
    }
  }
}

/** The time for which questions stop the clock of a call. */
export interface PausedTime {
  /** The number of open questions. */
  count: number;
  /** The time when the first of them was sent, as `performance.now()` counts. */
  since: number;
  /** Milliseconds of earlier questions. */
  ms: number;
}

/** The longest delay of a timer in milliseconds. Node fires a timer with a longer delay at once. */
const maxDelayMs = 2 ** 31 - 1;

/** The time limit of a call. */
type CallTime = Pick<ToolEntry, "timeoutMs" | "countsQuestions">;

function nothing(): void {}

function isPaused({ held }: CallContext): boolean {
  return held !== undefined && held.count > 0;
}

function deadlineOf(call: CallContext, now: number): number {
  return call.deadline === undefined ? Number.POSITIVE_INFINITY : call.deadline + Math.ceil(call.standingMs(now));
}

/**
 * Aborts calls at their deadlines, and nested calls no later than their parents. Questions to the client put off default deadlines, but
 * not a `timeoutMs` that an author has set.
 */
export class Deadlines {
  readonly #queues = new Map<number, TimeoutQueue>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  /** Sets the deadline of a call, and watches it until the call's `unwatch` is called. */
  watch(call: CallContext, { timeoutMs, countsQuestions }: CallTime): void {
    const { partOf } = call;
    const dueAt = performance.now() + timeoutMs;
    call.dueAt = dueAt;
    if (countsQuestions === true) call.latestAt = dueAt;
    call.unwatch = partOf === undefined ? this.#watchRoot(call, timeoutMs) : this.#watchNested(call, partOf, timeoutMs);
  }

  /** Stops the clock of a call and those above it while the client is asked. Returns a function that restarts it. */
  hold(call: CallContext): () => void {
    const chain: CallContext[] = [];
    for (let one: CallContext | undefined = call; one !== undefined; one = one.partOf?.call) {
      if (!one.isOver && one.dueAt < one.latestAt) chain.push(one);
    }
    for (const one of chain) this.#pause(one);
    return () => {
      for (const one of chain.splice(0)) this.#resume(one);
    };
  }

  #pause(call: CallContext): void {
    const now = performance.now();
    call.held ??= { count: 0, since: now, ms: 0 };
    call.held.count += 1;
    if (call.held.count > 1) return;
    call.held.since = now;
    // Nested calls that relied on this call's deadline keep theirs.
    for (const child of call.children) {
      if (child.unwatch === nothing) child.unwatch = this.#startTimer(child, child.dueAt - now);
    }
    call.unwatch?.();
    call.unwatch = call.latestAt < Number.POSITIVE_INFINITY ? this.#startTimer(call, call.latestAt - now) : undefined;
  }

  #resume(call: CallContext): void {
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
    call.unwatch = this.#startTimer(call, call.dueAt - now);
  }

  #watchRoot(call: CallContext, timeoutMs: number): () => void {
    // Reads the clock only once a call, since that costs as much as any other step of a small call.
    call.deadline = Math.ceil((call.tracked?.requestedAt ?? Date.now()) + timeoutMs);
    return this.#enqueue(call, timeoutMs);
  }

  /** Drops every call and clears every timer. */
  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues.values()) queue.clear();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #watchNested(call: CallContext, part: ParentLink, timeoutMs: number): () => void {
    const { call: parent, deadlineAt = Number.POSITIVE_INFINITY, countsQuestions, onAbort } = part;
    const own = call.dueAt;
    const now = own - timeoutMs;
    const requested = deadlineAt < own ? deadlineAt : own;
    const parentDueAt = parent.dueAt + parent.standingMs(now);
    call.dueAt = Math.min(requested, parentDueAt);
    call.latestAt = Math.min(call.latestAt, parent.latestAt);
    if (countsQuestions === true && deadlineAt < call.latestAt) call.latestAt = deadlineAt;
    call.deadline = Math.min(Math.ceil(Date.now() + call.dueAt - now), deadlineOf(parent, now));
    // The end of the parent ends this call, unless the call outlives the parent or the parent's clock stands still.
    if (parentDueAt <= requested && onAbort !== "continue-running" && !isPaused(parent)) return nothing;
    // Only timeouts of tools have queues, since other limits would need a queue for each call.
    const hasToolTimeout = requested === own && own < parentDueAt;
    return hasToolTimeout ? this.#enqueue(call, timeoutMs) : this.#startTimer(call, call.dueAt - now);
  }

  #enqueue(call: CallContext, timeoutMs: number): () => void {
    let queue = this.#queues.get(timeoutMs);
    if (queue === undefined) {
      queue = new TimeoutQueue(timeoutMs);
      this.#queues.set(timeoutMs, queue);
    }
    const found = queue;
    const place = found.add(call);
    return () => found.remove(place);
  }

  #startTimer(call: CallContext, delayMs: number): () => void {
    const abort = (): void => expire(call, "Cannot finish a call: no answer before its deadline");
    if (delayMs <= 0) {
      abort();
      return nothing;
    }
    const forget = (): void => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
    const fire = (): void => {
      forget();
      abort();
    };
    const timer = unrefTimer(setTimeout(fire, Math.min(delayMs, maxDelayMs)));
    this.#timers.add(timer);
    return forget;
  }
}

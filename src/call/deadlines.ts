import { SurfaceError } from "../errors.ts";
import { unrefTimer } from "../surface/unref-timer.ts";
import { Places, type Place } from "../spine/places.ts";
import type { CallContext, PartOf } from "./call-context.ts";

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
      call.abort(new SurfaceError("TIMEOUT", `Calling: no answer within ${this.#timeoutMs} ms`));
    }
  }
}

function nothing(): void {}

/** Aborts calls that take too long, and what is called within a call no later than that. */
export class Deadlines {
  readonly #lanes = new Map<number, Lane>();
  readonly #timers = new Set<NodeJS.Timeout>();

  /** Watches a call, and says when it is due; returns what stops watching it. */
  watch(call: CallContext, timeoutMs: number): () => void {
    if (call.partOf !== undefined) return this.#watchPart(call, call.partOf, timeoutMs);
    call.dueAt = performance.now() + timeoutMs;
    // Asking for the time costs a small call as much as anything else that is done for it.
    const now = call.hasWaited ? undefined : call.tracked?.requestedAt;
    call.deadline = Math.ceil((now ?? Date.now()) + timeoutMs);
    return this.#inLane(call, timeoutMs);
  }

  /** Forgets every call and clears every timer. */
  close(): void {
    for (const lane of this.#lanes.values()) lane.clear();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #watchPart(call: CallContext, { call: above, deadlineAt, onAbort }: PartOf, timeoutMs: number): () => void {
    const now = performance.now();
    const own = now + timeoutMs;
    const asked = deadlineAt !== undefined && deadlineAt < own ? deadlineAt : own;
    call.dueAt = Math.min(asked, above.dueAt);
    call.deadline = Math.min(Math.ceil(Date.now() + call.dueAt - now), above.deadline ?? Number.POSITIVE_INFINITY);
    // It ends with the call above it: unless that one is over before its time, and this one goes on.
    if (above.dueAt <= asked && onAbort !== "continue-running") return nothing;
    // Of its own length only: lanes of any other would be as many as there are calls.
    return asked === own && own < above.dueAt ? this.#inLane(call, timeoutMs) : this.#alone(call, call.dueAt - now);
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
    const abort = (): void => call.abort(new SurfaceError("TIMEOUT", "Calling: no answer before its deadline"));
    if (delayMs <= 0) {
      abort();
      return nothing;
    }
    const forget = (): void => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
    const timer = unrefTimer(
      setTimeout(() => {
        forget();
        abort();
      }, delayMs),
    );
    this.#timers.add(timer);
    return forget;
  }
}

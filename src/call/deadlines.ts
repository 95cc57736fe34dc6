import { SurfaceError } from "../errors.ts";
import type { CallContext } from "./call-context.ts";

/**
 * The deadlines of all calls of one length, with one timer between them. They fall due in the order in which they were
 * added, so only the oldest needs a timer; a timer a call would cost more than the call.
 */
class Lane {
  /** Each call with when it falls due. */
  readonly #calls = new Map<CallContext, number>();
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(call: CallContext): void {
    this.#calls.set(call, performance.now() + this.#timeoutMs);
    this.#timer ??= this.#arm(this.#timeoutMs);
  }

  remove(call: CallContext): void {
    this.#calls.delete(call);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#calls.clear();
  }

  #arm(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#sweep(), delayMs).unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [call, at] of this.#calls) {
      // Timers may fire a little early; whole milliseconds are as fine as they get.
      if (at - now >= 1) {
        this.#timer = this.#arm(at - now);
        return;
      }
      this.#calls.delete(call);
      call.abort(new SurfaceError("TIMEOUT", `Calling: no answer within ${this.#timeoutMs} ms`));
    }
  }
}

/** Aborts calls that take too long. */
export class Deadlines {
  readonly #lanes = new Map<number, Lane>();

  /** Watches a call; returns what stops watching it. */
  watch(call: CallContext, timeoutMs: number): () => void {
    let lane = this.#lanes.get(timeoutMs);
    if (lane === undefined) {
      lane = new Lane(timeoutMs);
      this.#lanes.set(timeoutMs, lane);
    }
    const found = lane;
    found.add(call);
    return () => found.remove(call);
  }

  /** Forgets every call and clears every timer. */
  close(): void {
    for (const lane of this.#lanes.values()) lane.clear();
  }
}

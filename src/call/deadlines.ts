import { SurfaceError } from "../errors.ts";
import { unrefTimer } from "../surface/unref-timer.ts";
import { Places, type Place } from "../spine/places.ts";
import type { CallContext } from "./call-context.ts";

/** A call, and when it falls due. */
interface Due {
  readonly call: CallContext;
  readonly at: number;
}

/**
 * The deadlines of all calls of one length, with one timer between them. They fall due in the order in which they were
 * added, so only the oldest needs a timer; a timer a call would cost more than the call.
 */
class Lane {
  readonly #calls = new Places<Due>();
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(call: CallContext): Place<Due> {
    this.#timer ??= this.#arm(this.#timeoutMs);
    return this.#calls.add({ call, at: performance.now() + this.#timeoutMs });
  }

  remove(place: Place<Due>): void {
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
      const { call, at } = place.value;
      // Timers may fire a little early; whole milliseconds are as fine as they get.
      if (at - now >= 1) {
        this.#timer = this.#arm(at - now);
        return;
      }
      // One that was aborted before may have ended others.
      if (!this.#calls.remove(place)) continue;
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
    const place = found.add(call);
    return () => found.remove(place);
  }

  /** Forgets every call and clears every timer. */
  close(): void {
    for (const lane of this.#lanes.values()) lane.clear();
  }
}

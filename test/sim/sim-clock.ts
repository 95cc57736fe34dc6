import type { Clock } from "../../src/spine/clock.ts";

/** Who set a timer. */
export type Lane = "holder" | "watch" | "request";

/** A timer that has neither fired nor been taken back. */
export interface SimTimer {
  readonly lane: Lane;
  readonly delayMs: number;
  /** In elapsed milliseconds, which no jump of the clock changes. */
  readonly due: number;
  readonly run: () => void;
}

/** Time that passes only when a step says so. What the spine reads may jump; what has elapsed may not. */
export class SimClock {
  elapsed = 0;
  /** When it last jumped, in elapsed milliseconds. */
  lastJump = Number.NEGATIVE_INFINITY;
  /** When a timer of a watch last fired, in elapsed milliseconds. */
  lastWatchTimer = Number.NEGATIVE_INFINITY;
  readonly timers: SimTimer[] = [];
  #shift = 0;
  #set: (lane: Lane, delayMs: number) => void = () => {};
  #latenessMs: () => number = () => 0;

  /** The clock that one part of the spine is given. */
  lane(lane: Lane): Clock {
    return {
      now: () => this.elapsed + this.#shift,
      after: (delayMs, run) => {
        const timer: SimTimer = { lane, delayMs, due: this.elapsed + delayMs + this.#latenessMs(), run };
        this.timers.push(timer);
        this.#set(lane, delayMs);
        return () => this.#forget(timer);
      },
    };
  }

  /** Has every timer told as it is set. */
  watch(set: (lane: Lane, delayMs: number) => void): void {
    this.#set = set;
  }

  /** Decides how late each timer will be, as it is set. */
  delay(latenessMs: () => number): void {
    this.#latenessMs = latenessMs;
  }

  now(): number {
    return this.elapsed + this.#shift;
  }

  /** The clock is set to another hour; timers fire as if nothing had been. */
  jump(byMs: number): void {
    this.#shift += byMs;
    this.lastJump = this.elapsed;
  }

  /** The machine sleeps: the time passes, and no timer fires. */
  sleep(forMs: number): void {
    this.elapsed += forMs;
    this.lastJump = this.elapsed;
  }

  count(lane: Lane): number {
    let count = 0;
    for (const timer of this.timers) if (timer.lane === lane) count += 1;
    return count;
  }

  /** Whether some timer should have fired and has not. */
  isLate(): boolean {
    for (const timer of this.timers) if (timer.due < this.elapsed) return true;
    return false;
  }

  /** The timer that is due first; the earlier one where two are equal. */
  next(): SimTimer | undefined {
    let first: SimTimer | undefined;
    for (const timer of this.timers) if (first === undefined || timer.due < first.due) first = timer;
    return first;
  }

  /** Those that may fire now, if a timer may be early by so much. */
  due(earlyMs: number): SimTimer[] {
    return this.timers.filter((timer) => timer.due <= this.elapsed + earlyMs);
  }

  fire(timer: SimTimer): void {
    this.#forget(timer);
    if (timer.lane === "watch") this.lastWatchTimer = this.elapsed;
    timer.run();
  }

  #forget(timer: SimTimer): void {
    const at = this.timers.indexOf(timer);
    if (at >= 0) this.timers.splice(at, 1);
  }
}

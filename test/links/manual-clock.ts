import type { Clock } from "../../src/spine/clock.ts";
import { settle } from "../surface/support.ts";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now = 0;

  /** How many timers are set. */
  get size(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer: Timer = { at: this.#now + delayMs, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Lets time pass, timer by timer, each with the turns of the process that it sets off. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle(1);
      const due = [...this.#timers].filter(({ at }) => at <= end).toSorted((left, right) => left.at - right.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
    }
    this.#now = end;
  }
}

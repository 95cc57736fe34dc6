import { CallQueue } from "./call-queue.ts";
import type { Turn } from "./methods.ts";

/** A request in a queue, or started from it. */
export interface Queued {
  /** Takes the request back while it waits. Returns `false` if it was started. */
  withdraw(): boolean;
}

/** Starts a queued request, which calls `done` once, when its place is free. */
export type StartQueued = (done: () => void) => void;

/** One queue, in which each request is its own key. */
class Lane {
  readonly queue = new CallQueue<Queued>();
  readonly done = (): void => this.queue.done();

  take(start: StartQueued): Queued | undefined {
    if (this.queue.full) return undefined;
    const queued: Queued = { withdraw: () => this.queue.withdraw(queued) };
    this.queue.add(queued, () => start(this.done));
    return queued;
  }
}

/** The queues of one connection. Reads have their own: calls may wait for minutes, and a read must not wait behind them. */
export class TurnQueues {
  readonly #calls = new Lane();
  readonly #reads = new Lane();

  /** Starts nothing until `held` is false again. */
  hold(held: boolean): void {
    this.#calls.queue.hold(held);
    this.#reads.queue.hold(held);
  }

  /** Runs `start` now or when there is room. Returns `undefined` if too many wait. */
  take(turn: Exclude<Turn, "none">, start: StartQueued): Queued | undefined {
    return (turn === "calls" ? this.#calls : this.#reads).take(start);
  }
}

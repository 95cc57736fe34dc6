import { unrefTimer } from "../surface/system-clock.ts";

/** Steps of a slice. At tens of nanoseconds a step, a slice is 1 to 3 milliseconds. */
const stepsPerSlice = 100_000;

/** Milliseconds between two slices that no request waits for. */
const restMs = 5;

/**
 * Divides long work into slices, with a turn of the event loop after each. Counts steps instead of milliseconds, so that a slow
 * machine does the same work in the same slices.
 */
export class WorkSlices {
  #steps = 0;
  #requests = 0;
  #rest: NodeJS.Timeout | undefined;

  /** Waits for work that a request needs. Until it is done, slices follow each other at once and keep the process alive. */
  async hurry<TResult>(work: Promise<TResult>): Promise<TResult> {
    this.#requests += 1;
    this.#rest?.ref();
    try {
      return await work;
    } finally {
      this.#requests -= 1;
    }
  }

  /** Counts work that was done. Pauses when the slice is full. */
  async spend(steps: number): Promise<void> {
    this.#steps += steps;
    if (this.#steps >= stepsPerSlice) await this.pause();
  }

  /** Ends a slice. The process may end during the pause if no request waits. */
  async pause(): Promise<void> {
    this.#steps = 0;
    // An immediate that does not keep the process alive would only run after some input.
    if (this.#requests === 0) await new Promise((done) => (this.#rest = unrefTimer(setTimeout(done, restMs))));
    else await new Promise((done) => setImmediate(done));
  }
}

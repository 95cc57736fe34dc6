import { unrefTimer } from "../surface/system-clock.ts";

/** Steps of a slice, which takes 1 to 3 milliseconds. */
const stepsPerSlice = 100_000;

/** Milliseconds between two slices if no request waits. */
const restMs = 2;

/** Divides long work into slices, with a turn of the event loop after each. Counts steps, so that slices are the same on each machine. */
export class WorkSlices {
  #steps = 0;
  #requests = 0;
  #rest: NodeJS.Timeout | undefined;

  /** Waits for work that a request needs. Meanwhile slices have no pause between them, and keep the process alive. */
  async hurry<TResult>(work: Promise<TResult>): Promise<TResult> {
    this.#requests += 1;
    this.#rest?.ref();
    try {
      return await work;
    } finally {
      this.#requests -= 1;
    }
  }

  /** Counts steps. Pauses at the end of the slice. */
  async spend(steps: number): Promise<void> {
    this.#steps += steps;
    if (this.#steps >= stepsPerSlice) await this.pause();
  }

  /** Ends a slice. The process may end during the pause if no request waits. */
  async pause(): Promise<void> {
    this.#steps = 0;
    // An unreferenced immediate would wait for other input.
    if (this.#requests === 0) await new Promise((done) => (this.#rest = unrefTimer(setTimeout(done, restMs))));
    else await new Promise((done) => setImmediate(done));
  }
}

/** Steps of a slice. At tens of nanoseconds a step, a slice is 1 to 3 milliseconds. */
const stepsPerSlice = 100_000;

/**
 * Divides long work into slices, with a turn of the event loop after each. Counts steps instead of milliseconds, so that a slow
 * machine does the same work in the same slices.
 */
export class WorkSlices {
  #steps = 0;

  /** Counts work that was done. Waits for a turn of the event loop when the slice is full. */
  async spend(steps: number): Promise<void> {
    this.#steps += steps;
    if (this.#steps < stepsPerSlice) return;
    this.#steps = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets so many run at once; the others wait for their turn, in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs something once there is room. What waits cannot be called back: it is to look whether it is still wanted. */
  async run<TValue>(work: () => Promise<TValue>): Promise<TValue> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

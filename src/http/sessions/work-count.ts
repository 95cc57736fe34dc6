/** Counts the work that takes a place: that of calls that were answered early, and goes on, too. */
export class WorkCount {
  #count = 0;
  #onIdle: (() => void) | undefined;

  /** Whether there is none. */
  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** Some begins. Returns what says that it has ended, to be called once, and tells whoever else wants to know. */
  begin(ended: () => void): () => void {
    this.#count += 1;
    return () => {
      ended();
      this.#count -= 1;
      if (this.#count === 0) this.#onIdle?.();
    };
  }

  /** Tells when there is none. One listener at a time. */
  whenIdle(told: () => void): void {
    if (this.#count === 0) told();
    else this.#onIdle = told;
  }
}

/** Runs asynchronous steps one after another, in the order in which they were asked for. */
export class Serial {
  #last: Promise<void> | undefined;

  /** Runs a step when those before it have settled, however they did; settles as the step does. */
  run<TResult>(step: () => Promise<TResult>): Promise<TResult> {
    const running = this.#last === undefined ? step() : this.#last.then(step);
    const forget = (): void => {
      if (this.#last === settled) this.#last = undefined;
    };
    const settled = running.then(forget, forget);
    this.#last = settled;
    return running;
  }
}

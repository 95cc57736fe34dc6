const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/**
 * Iterates over the newest of the values that it is told, and skips those between. The last value is always delivered, before an
 * end or a failure behind it. One `next()` at a time.
 */
export class Newest<TValue> implements AsyncIterableIterator<TValue> {
  readonly #leave: () => unknown;
  #pending: { readonly value: TValue } | undefined;
  #end: { readonly failure?: { readonly cause: unknown } } | undefined;
  #isOver = false;
  #wake: () => void = () => {};

  /** @param leave - called once, if the consumer leaves before the end; `return()` waits for it. */
  constructor(leave: () => unknown) {
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  tell(value: TValue): void {
    if (this.#isOver || this.#end !== undefined) return;
    this.#pending = { value };
    this.#wake();
  }

  /** Ends it behind the last value; with a failure, by throwing its cause. */
  finish(failure?: { readonly cause: unknown }): void {
    if (this.#isOver || this.#end !== undefined) return;
    this.#end = failure === undefined ? {} : { failure };
    this.#wake();
  }

  async next(): Promise<IteratorResult<TValue>> {
    for (;;) {
      if (this.#isOver) return ended;
      const pending = this.#pending;
      this.#pending = undefined;
      if (pending !== undefined) return { done: false, value: pending.value };
      if (this.#end !== undefined) {
        this.#isOver = true;
        if (this.#end.failure !== undefined) throw this.#end.failure.cause;
        return ended;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<TValue>> {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    this.#wake();
    if (isFirst && this.#end === undefined) await this.#leave();
    return ended;
  }
}

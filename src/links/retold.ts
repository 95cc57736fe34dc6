/** What becomes of an iteration that {@link retold} passes on. */
export interface Retelling {
  /** Returns the error that the iteration fails with instead of `cause`. @default `cause` */
  failed?(cause: unknown): unknown;
  /** Returns the error of an iteration that has ended without its consumer, if it was cut off. @default `undefined` */
  cut?(): Error | undefined;
  /** Called when the iteration is over, in any way. Callable twice. */
  over?(): void;
}

/** Not a generator: `return()` of a generator waits for the `next()` before it. */
class RetoldIterator implements AsyncIterator<unknown> {
  readonly #open: () => AsyncIterable<unknown>;
  readonly #retelling: Retelling;
  #inner: AsyncIterator<unknown> | undefined;
  #hasLeft = false;

  constructor(open: () => AsyncIterable<unknown>, retelling: Retelling) {
    this.#open = open;
    this.#retelling = retelling;
  }

  async next(): Promise<IteratorResult<unknown>> {
    if (this.#hasLeft) return { done: true, value: undefined };
    const step = await this.#step();
    if (step.done !== true) return step;
    this.#retelling.over?.();
    const cut = this.#hasLeft ? undefined : this.#retelling.cut?.();
    if (cut !== undefined) throw cut;
    return step;
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.#hasLeft = true;
    try {
      // Started first, so that the far side is still there to hear it.
      const leaving = this.#inner?.return?.();
      this.#retelling.over?.();
      return (await leaving) ?? { done: true, value: undefined };
    } finally {
      this.#retelling.over?.();
    }
  }

  async #step(): Promise<IteratorResult<unknown>> {
    try {
      this.#inner ??= this.#open()[Symbol.asyncIterator]();
      return await this.#inner.next();
    } catch (cause) {
      this.#retelling.over?.();
      if (this.#hasLeft) throw cause;
      throw this.#retelling.failed?.(cause) ?? cause;
    }
  }
}

/** Passes an iteration on, and tells its end in other words. Opens it with the first `next()`. */
export function retold(open: () => AsyncIterable<unknown>, retelling: Retelling): AsyncIterable<unknown> {
  return { [Symbol.asyncIterator]: () => new RetoldIterator(open, retelling) };
}

import { SurfaceError } from "../../errors.ts";
import { systemClock } from "../system-clock.ts";
import { isObjectOrFunction } from "../../options/is-object.ts";

/**
 * How long the end of an iteration is waited for, in milliseconds. An async generator that waits for something cannot be
 * ended before that has come, and unlike a handler it has no signal to know by that it should.
 */
const maxEndMs = 1000;

/** Settles as something that ends does, or resolves when that takes too long. */
function upToEnd(ending: PromiseLike<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = systemClock.after(maxEndMs, resolve);
    // By a promise of our own: a thenable may throw when it is looked at.
    new Promise((settle) => settle(ending)).then(() => resolve(), reject).finally(stop);
  });
}

/**
 * An async iterable of an author's. One that gives no iterator fails, as it has not ended but never began; one that does
 * not end when it is returned is waited for within bounds.
 */
export class OpenedAnew implements AsyncIterable<unknown> {
  readonly #iterable: AsyncIterable<unknown>;

  constructor(iterable: AsyncIterable<unknown>) {
    this.#iterable = iterable;
  }

  [Symbol.asyncIterator](): AsyncIterator<unknown> {
    const values: AsyncIterator<unknown> = this.#iterable[Symbol.asyncIterator]();
    if (!isObjectOrFunction(values))
      throw new SurfaceError("INTERNAL", "Opening an async iterable: it gave no iterator");
    return {
      next: () => values.next(),
      async return() {
        const ending = values.return?.();
        if (ending !== undefined) await upToEnd(ending);
        return { done: true, value: undefined };
      },
    };
  }
}

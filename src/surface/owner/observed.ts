import { SurfaceError } from "../../errors.ts";
import type { ObservableLike } from "../observable.ts";
import { isFunction } from "../../options/is-object.ts";

const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** What a subscription is ended by. TC39 and RxJS give an object; some libraries a function. */
function toStop(subscription: unknown): (() => unknown) | undefined {
  if (isFunction(subscription)) return () => subscription();
  if (typeof subscription !== "object" || subscription === null) return undefined;
  const unsubscribe: unknown = Reflect.get(subscription, "unsubscribe");
  return isFunction(unsubscribe) ? () => unsubscribe.call(subscription) : undefined;
}

/**
 * Iterates over what an observable tells, skipping to the newest; subscribed by the first `next()`, and no longer by
 * `return()`. The last value is always delivered, also when the observable completes or fails right behind it. One
 * `next()` at a time.
 */
export class Observed implements AsyncIterableIterator<unknown> {
  readonly #observable: ObservableLike<unknown>;
  #isStarted = false;
  #isOver = false;
  #stop: (() => unknown) | undefined;
  #pending: { readonly value: unknown } | undefined;
  #end: { readonly failure?: { readonly cause: unknown } } | undefined;
  #wake: () => void = () => {};

  constructor(observable: ObservableLike<unknown>) {
    this.#observable = observable;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown>> {
    this.#start();
    for (;;) {
      if (this.#isOver) return ended;
      const pending = this.#pending;
      this.#pending = undefined;
      if (pending !== undefined) return { done: false, value: pending.value };
      if (this.#end !== undefined) return this.#finish(this.#end);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.#isOver = true;
    this.#wake();
    await this.#leave();
    return ended;
  }

  #finish({ failure }: { readonly failure?: { readonly cause: unknown } }): IteratorResult<unknown> {
    this.#isOver = true;
    if (failure !== undefined) throw failure.cause;
    return ended;
  }

  #start(): void {
    if (this.#isStarted || this.#isOver) return;
    this.#isStarted = true;
    const subscription: unknown = this.#observable.subscribe({
      next: (value) => this.#tell(() => (this.#pending = { value })),
      error: (cause) => this.#tell(() => (this.#end = { failure: { cause } })),
      complete: () => this.#tell(() => (this.#end = {})),
    });
    this.#stop = toStop(subscription);
    if (this.#stop !== undefined || this.#end !== undefined) return;
    throw new SurfaceError("INTERNAL", "Subscribing to an observable: subscribe() must return what ends it");
  }

  /** What is told after its end, or after it was left, is dropped. */
  #tell(note: () => void): void {
    if (this.#isOver || this.#end !== undefined) return;
    note();
    this.#wake();
  }

  async #leave(): Promise<void> {
    const stop = this.#stop;
    this.#stop = undefined;
    // What has ended by itself has let go of everything.
    if (this.#end === undefined) await stop?.();
  }
}

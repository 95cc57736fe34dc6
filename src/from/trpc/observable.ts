import { SurfaceError } from "../../errors.ts";
import { isFunction, isObject } from "../../options/is-object.ts";
import { ended } from "../../spine/pushing.ts";

/** The number of items of an observable that wait for their consumer. */
const maxWaiting = 1024;

/** An observable of tRPC, which tRPC 10 knows only. */
interface Observable {
  subscribe(observer: { next(value: unknown): void; error(cause: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}

function isObservable(value: unknown): value is Observable {
  return isObject(value) && isFunction(Reflect.get(value, "subscribe"));
}

/** Iterates over the items of an observable. `return()` unsubscribes. */
class ObservedItems implements AsyncIterableIterator<unknown> {
  readonly #waiting: unknown[] = [];
  readonly #subscription: { unsubscribe(): void };
  #end: { readonly failure?: { readonly cause: unknown } } | undefined;
  #wake: () => void = () => {};

  constructor(observable: Observable) {
    this.#subscription = observable.subscribe({
      next: (value) => this.#take(value),
      error: (cause) => this.#finish({ failure: { cause } }),
      complete: () => this.#finish({}),
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown>> {
    while (this.#waiting.length === 0) {
      const { failure } = this.#end ?? {};
      if (failure !== undefined) {
        this.#end = {};
        throw failure.cause;
      }
      if (this.#end !== undefined) return ended;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return { done: false, value: this.#waiting.shift() };
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.#waiting.length = 0;
    this.#finish({});
    this.#subscription.unsubscribe();
    return ended;
  }

  #take(value: unknown): void {
    if (this.#end !== undefined) return;
    if (this.#waiting.length >= maxWaiting) {
      const message = `Cannot follow an observable: ${maxWaiting} items wait for their consumer`;
      return this.#finish({ failure: { cause: new SurfaceError("OVERFLOW", message) } });
    }
    this.#waiting.push(value);
    this.#wake();
  }

  #finish(end: { readonly failure?: { readonly cause: unknown } }): void {
    this.#end ??= end;
    this.#wake();
  }
}

/** Returns the items of a subscription. @throws SurfaceError `INVALID_OUTPUT` for a value that has none. */
export function toAsyncIterable(value: unknown): AsyncIterable<unknown> {
  if (isObservable(value)) return new ObservedItems(value);
  // The method is there; what it returns is the author's.
  if (isObject(value) && isFunction(Reflect.get(value, Symbol.asyncIterator))) return value as AsyncIterable<unknown>;
  throw new SurfaceError(
    "INVALID_OUTPUT",
    "Cannot follow a subscription: it returned neither an async iterable nor an observable",
  );
}

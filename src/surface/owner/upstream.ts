import { SurfaceError } from "../../errors.ts";
import { isFunction, isObjectOrFunction } from "../../options/is-object.ts";
import { ended, Newest } from "../../spine/pushing.ts";
import type { ObservableLike } from "../source.ts";
import { kPushed, type PushedOrigin, type Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";

/** Source of the values of a cell that arrive asynchronously. */
export interface Upstream extends PushedOrigin<unknown> {
  /** Whether the last value is final when the values end. @default it is stale then, and upstream is opened again */
  readonly isFinalAtEnd?: boolean;
  /** Whether it can be opened only once, so that it goes on without readers. */
  readonly isOpenedOnce?: boolean;
}

function hasMethod(value: object, name: PropertyKey): boolean {
  return isFunction(Reflect.get(value, name));
}

/** Returns the function that ends a subscription. TC39 and RxJS return an object with it, some libraries the function. */
function toStop(subscription: unknown): (() => unknown) | undefined {
  if (isFunction(subscription)) return () => subscription();
  if (typeof subscription !== "object" || subscription === null) return undefined;
  const unsubscribe: unknown = Reflect.get(subscription, "unsubscribe");
  return isFunction(unsubscribe) ? () => unsubscribe.call(subscription) : undefined;
}

/** Subscribes to an observable. Returns its newest values; `return()` unsubscribes, unless it has ended by itself. */
function observe(observable: ObservableLike<unknown>): AsyncIterable<Reading> {
  let isOver = false;
  const values = new Newest<Reading>(() => stop?.());
  const finish = (failure?: { readonly cause: unknown }): void => {
    isOver = true;
    values.finish(failure);
  };
  const subscription: unknown = observable.subscribe({
    next: (value) => values.tell({ value }),
    error: (cause) => finish({ cause }),
    complete: () => finish(),
  });
  const stop = toStop(subscription);
  if (stop !== undefined || isOver) return values;
  const message =
    "Cannot subscribe to an observable: subscribe() must return an object with unsubscribe(), or a function";
  throw new SurfaceError("INTERNAL", message);
}

/** Returns the observable that a value offers by the well-known method of the libraries. */
function toInterop(value: object): unknown {
  for (const name of [Reflect.get(Symbol, "observable") as unknown, "@@observable"]) {
    if (typeof name !== "symbol" && typeof name !== "string") continue;
    const give: unknown = Reflect.get(value, name);
    if (isFunction(give)) return give.call(value);
  }
  return undefined;
}

function toObservable(value: object): ObservableLike<unknown> | undefined {
  const found = toInterop(value) ?? value;
  if (!isObjectOrFunction(found) || !hasMethod(found, "subscribe")) return undefined;
  // The arguments and the result of its subscribe() are unknown until it is called.
  return found as ObservableLike<unknown>;
}

/** Milliseconds that the end of an iterable may take. An async generator that waits cannot be ended before it continues, and has no signal. */
const maxEndMs = 1000;

function settleWithin(ending: PromiseLike<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = systemClock.after(maxEndMs, resolve);
    // In a new promise: a thenable may throw when it is read.
    new Promise((settle) => settle(ending)).then(() => resolve(), reject).finally(stop);
  });
}

/** Guards the iterable of an author: fails if it returns no iterator, and waits for the end of one for a bounded time. */
function guardIterable(iterable: AsyncIterable<unknown>): AsyncIterable<Reading> {
  return {
    [Symbol.asyncIterator]() {
      const values: AsyncIterator<unknown> = iterable[Symbol.asyncIterator]();
      if (!isObjectOrFunction(values))
        throw new SurfaceError("INTERNAL", "Cannot open an async iterable: it returned no iterator");
      return {
        async next() {
          const step = await values.next();
          return step.done === true ? ended : { done: false, value: { value: step.value } };
        },
        async return() {
          const ending = values.return?.();
          if (ending !== undefined) await settleWithin(ending);
          return ended;
        },
      };
    },
  };
}

/** Returns the upstream of a cell's implementation; `undefined` if it is a source that can be read at any time, or none. */
export function toUpstream(value: unknown): Upstream | undefined {
  if (!isObjectOrFunction(value)) return undefined;
  // Only this package uses that symbol.
  if (kPushed in value) return value[kPushed] as PushedOrigin<unknown>;
  if (hasMethod(value, Symbol.asyncIterator)) {
    // The result of its method is checked when it is opened.
    const iterable = value as AsyncIterable<unknown>;
    // A value that is its own iterator, such as a generator object, cannot be opened again.
    return { open: () => guardIterable(iterable), isFinalAtEnd: true, isOpenedOnce: hasMethod(value, "next") };
  }
  const observable = toObservable(value);
  return observable && { open: () => observe(observable), isFinalAtEnd: true };
}

import { SurfaceError } from "../../errors.ts";
import { Newest } from "../../spine/pushing.ts";
import type { ObservableLike } from "../source.ts";
import { kPushed, Unchanged, Unmade, type PushedFrame, type PushedOrigin } from "../pushed.ts";
import type { Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import { isFunction, isObjectOrFunction } from "../../options/is-object.ts";

/** Where the values of a cell come from that are not there to be read at any time. */
export interface Upstream {
  /** Opens it anew; may be asynchronous where its author made it so. */
  open(signal: AbortSignal): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;
  /** One frame, without opening it. */
  readonly read?: (signal: AbortSignal) => Promise<unknown>;
  /** Whether what is read while it is open is at least as new as what that has given by then. */
  readonly isReadWhileOpen?: boolean;
  /** What a frame says. @throws SurfaceError `INVALID_OUTPUT`. */
  toFrame(frame: unknown): Exclude<PushedFrame<unknown>, Unmade>;
  /** Whether what it said last stands for good when it ends, and it is not to be opened again. */
  readonly isFinalAtEnd: boolean;
  /** Whether it can be opened only once, and is to be kept for the next reader where there is none now. */
  readonly isOpenedOnce: boolean;
}

function hasMethod(value: object, name: PropertyKey): boolean {
  return isFunction(Reflect.get(value, name));
}

function readFrame(frame: unknown): Exclude<PushedFrame<unknown>, Unmade> {
  if (frame instanceof Unmade) throw frame.cause;
  if (frame instanceof Unchanged) return frame;
  if (isObjectOrFunction(frame) && "value" in frame) return frame;
  throw new SurfaceError("INVALID_OUTPUT", "Reading a pushed source: it gave something that is no reading");
}

const toPlainFrame = (value: unknown): Reading => ({ value });

/** Where a pushed source comes from, as one kind of many. */
export function fromPushed(origin: PushedOrigin<unknown>): Upstream {
  const read = origin.read?.bind(origin);
  return {
    open: (signal) => origin.open(signal),
    ...(read === undefined ? {} : { read, isReadWhileOpen: origin.isReadWhileOpen ?? true }),
    toFrame: readFrame,
    isFinalAtEnd: false,
    isOpenedOnce: false,
  };
}

/** What a subscription is ended by. TC39 and RxJS give an object; some libraries a function. */
function toStop(subscription: unknown): (() => unknown) | undefined {
  if (isFunction(subscription)) return () => subscription();
  if (typeof subscription !== "object" || subscription === null) return undefined;
  const unsubscribe: unknown = Reflect.get(subscription, "unsubscribe");
  return isFunction(unsubscribe) ? () => unsubscribe.call(subscription) : undefined;
}

/** Subscribes to an observable. Returns its newest values; `return()` unsubscribes, unless it has ended by itself. */
function observe(observable: ObservableLike<unknown>): AsyncIterable<unknown> {
  let isOver = false;
  const values = new Newest<unknown>(() => stop?.());
  const finish = (failure?: { readonly cause: unknown }): void => {
    isOver = true;
    values.finish(failure);
  };
  const subscription: unknown = observable.subscribe({
    next: (value) => values.tell(value),
    error: (cause) => finish({ cause }),
    complete: () => finish(),
  });
  const stop = toStop(subscription);
  if (stop !== undefined || isOver) return values;
  throw new SurfaceError("INTERNAL", "Subscribing to an observable: subscribe() must return what ends it");
}

function fromObservable(observable: ObservableLike<unknown>): Upstream {
  return { open: () => observe(observable), toFrame: toPlainFrame, isFinalAtEnd: true, isOpenedOnce: false };
}

/** By the well-known method libraries hand over observables that are not their own. */
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
  // What its subscribe() takes and returns cannot be known before it is called.
  return found as ObservableLike<unknown>;
}

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
class OpenedAnew implements AsyncIterable<unknown> {
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

/** What a cell's implementation gives by and by; `undefined` where it is nothing of that kind. */
export function toUpstream(value: unknown): Upstream | undefined {
  if (!isObjectOrFunction(value)) return undefined;
  // Only this package puts anything under that symbol.
  if (kPushed in value) return fromPushed(value[kPushed] as PushedOrigin<unknown>);
  if (hasMethod(value, Symbol.asyncIterator)) {
    // What its method returns is looked at when it is opened.
    const iterable = value as AsyncIterable<unknown>;
    return {
      open: () => new OpenedAnew(iterable),
      toFrame: toPlainFrame,
      isFinalAtEnd: true,
      // What is its own iterator, as a generator that was called already, is over for good once it was returned.
      isOpenedOnce: hasMethod(value, "next"),
    };
  }
  const observable = toObservable(value);
  return observable === undefined ? undefined : fromObservable(observable);
}

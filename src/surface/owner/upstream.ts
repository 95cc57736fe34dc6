import { SurfaceError } from "../../errors.ts";
import { isFunction, isObjectOrFunction } from "../../options/is-object.ts";
import { OwnedIterator } from "../../spine/owned-iterator.ts";
import { Newest } from "../../spine/pushing.ts";
import type { Scope } from "../../spine/scope.ts";
import type { ObservableLike } from "../source.ts";
import { kPushed, Unchanged, Unmade, type PushedOrigin } from "../pushed.ts";
import type { Reading } from "../reading.ts";
import { systemClock } from "../system-clock.ts";
import { toReason } from "./first-faults.ts";
import type { MadeFrame, PushedValue } from "./pushed-value.ts";
import { burst, nextTurn, Rearm, WaitQueue } from "./waiting.ts";

/** Source of the values of a cell that arrive asynchronously. */
export interface Upstream {
  /** Opens its values. May be asynchronous if its author made it so. */
  open(signal: AbortSignal): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;
  /** Reads one frame without opening it. */
  readonly read?: (signal: AbortSignal) => Promise<unknown>;
  /** Whether a read beside the open values is at least as new as those. */
  readonly isReadWhileOpen?: boolean;
  /** Converts an item of `open` or the result of `read`. @throws SurfaceError `INVALID_OUTPUT`. */
  toFrame(frame: unknown): MadeFrame;
  /** Whether the last value is final when the values end. Otherwise it is stale, and upstream is opened again. */
  readonly isFinalAtEnd: boolean;
  /** Whether it can be opened only once, so that it goes on without readers. */
  readonly isOpenedOnce: boolean;
}

function hasMethod(value: object, name: PropertyKey): boolean {
  return isFunction(Reflect.get(value, name));
}

function readFrame(frame: unknown): MadeFrame {
  if (frame instanceof Unmade) throw frame.cause;
  if (frame instanceof Unchanged) return frame;
  if (isObjectOrFunction(frame) && "value" in frame) return frame;
  throw new SurfaceError("INVALID_OUTPUT", "Cannot read a pushed source: its item is not a reading");
}

const toPlainFrame = (value: unknown): Reading => ({ value });

/** Returns the upstream of a pushed source. */
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

/** Returns the function that ends a subscription. TC39 and RxJS return an object with it, some libraries the function. */
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

/** Settles as `ending` does, or resolves when that takes too long. */
function settleWithin(ending: PromiseLike<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = systemClock.after(maxEndMs, resolve);
    // In a new promise: a thenable may throw when it is read.
    new Promise((settle) => settle(ending)).then(() => resolve(), reject).finally(stop);
  });
}

/** Guards the iterable of an author: fails if it returns no iterator, and waits for the end of one for a bounded time. */
function guardIterable(iterable: AsyncIterable<unknown>): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      const values: AsyncIterator<unknown> = iterable[Symbol.asyncIterator]();
      if (!isObjectOrFunction(values))
        throw new SurfaceError("INTERNAL", "Cannot open an async iterable: it returned no iterator");
      return {
        next: () => values.next(),
        async return() {
          const ending = values.return?.();
          if (ending !== undefined) await settleWithin(ending);
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** Returns the upstream of a cell's implementation; `undefined` if it is a source that can be read at any time, or none. */
export function toUpstream(value: unknown): Upstream | undefined {
  if (!isObjectOrFunction(value)) return undefined;
  // Only this package uses that symbol.
  if (kPushed in value) return fromPushed(value[kPushed] as PushedOrigin<unknown>);
  if (hasMethod(value, Symbol.asyncIterator)) {
    // The result of its method is checked when it is opened.
    const iterable = value as AsyncIterable<unknown>;
    // A value that is its own iterator, such as a generator object, cannot be opened again.
    const isOpenedOnce = hasMethod(value, "next");
    return { open: () => guardIterable(iterable), toFrame: toPlainFrame, isFinalAtEnd: true, isOpenedOnce };
  }
  const observable = toObservable(value);
  if (observable === undefined) return undefined;
  return { open: () => observe(observable), toFrame: toPlainFrame, isFinalAtEnd: true, isOpenedOnce: false };
}

/** Dependencies of a {@link SharedUpstream}. */
interface SharedDeps {
  readonly upstream: Upstream;
  readonly value: PushedValue;
  readonly scope: Scope;
}

/**
 * One iteration over an upstream, shared by all readers of a cell: opened with the first, ended with the last, and opened again after a
 * delay if it failed and has readers. An upstream that can be opened only once goes on without readers, until the scope closes.
 */
export class SharedUpstream {
  /** Readers that wait for the next change of the value. */
  readonly changes: WaitQueue = new WaitQueue();
  readonly #deps: SharedDeps;
  readonly #rearm: Rearm;
  #users = 0;
  #running: OwnedIterator<unknown> | undefined;
  #isFinished = false;

  constructor(deps: SharedDeps) {
    this.#deps = deps;
    this.#rearm = new Rearm(deps.scope, () => this.#retry());
  }

  /** Whether upstream has ended for good. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Whether it has no readers, and can be opened. */
  get isResting(): boolean {
    return this.#users === 0 && !this.#isFinished;
  }

  /** Adds a reader. Returns a function that removes it, and resolves when the iteration without readers has ended. */
  hold(): () => Promise<void> {
    this.#users += 1;
    if (this.#users === 1 && !this.#isFinished && this.#running === undefined) {
      this.#deps.value.begin();
      this.#start();
    }
    return async () => {
      this.#users -= 1;
      if (this.#users === 0) await this.#rest();
    };
  }

  #start(): void {
    const { upstream, scope, value } = this.#deps;
    if (scope.closed) return;
    const running: OwnedIterator<unknown> = new OwnedIterator({
      open: (signal) => upstream.open(signal),
      mask: (cause) => {
        // #follow() handles the failure of the current iteration. That of an earlier one, or of its end, is only logged.
        if (!this.#isCurrent(running)) value.note(cause);
        return cause;
      },
      scope,
      signal: undefined,
    });
    this.#running = running;
    this.#rearm.started();
    void this.#follow(running);
  }

  async #rest(): Promise<void> {
    if (this.#deps.upstream.isOpenedOnce) return;
    const running = this.#running;
    // Cleared before its end, so that a reader from now on starts another one and does not wait for this one.
    this.#running = undefined;
    this.#rearm.cancel();
    if (!this.#isFinished) this.#deps.value.rest();
    await running?.return();
  }

  #retry(): void {
    if (this.#users === 0 || this.#running !== undefined) return;
    this.#deps.value.retry();
    this.#start();
  }

  async #follow(running: OwnedIterator<unknown>): Promise<void> {
    try {
      await this.#collect(running);
      if (this.#isCurrent(running)) this.#end();
    } catch (cause) {
      if (this.#isCurrent(running)) this.#fail(toReason(cause), cause);
    }
  }

  async #collect(running: OwnedIterator<unknown>): Promise<void> {
    const { upstream, value } = this.#deps;
    const isCurrent = (): boolean => this.#isCurrent(running);
    let count = 0;
    for await (const frame of running) {
      if (!isCurrent()) return;
      await value.takeFrame(() => upstream.toFrame(frame), isCurrent);
      this.changes.wake();
      count += 1;
      if (count % burst === 0) await nextTurn();
    }
  }

  #isCurrent(running: OwnedIterator<unknown>): boolean {
    return this.#running === running && !this.#deps.scope.closed;
  }

  #end(): void {
    const { upstream, value } = this.#deps;
    if (!upstream.isFinalAtEnd) return this.#fail("ended");
    this.#running = undefined;
    this.#isFinished = true;
    value.finish();
    this.changes.wake();
  }

  #fail(reason: "invalid" | "lost" | "ended", cause?: unknown): void {
    this.#running = undefined;
    this.#deps.value.fail(reason, cause);
    this.changes.wake();
    this.#rearm.failed();
  }
}

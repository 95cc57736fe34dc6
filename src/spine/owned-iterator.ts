import { LinkedAbort } from "./linked-abort.ts";
import { isPushing, iterateTo, type Pushing, type Sink } from "./pushing.ts";
import type { Scope } from "./scope.ts";
import { Serial } from "./serial.ts";

const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** What an {@link OwnedIterator} runs, and until when. */
export interface IteratorSetting<TValue> {
  /**
   * Opens what is iterated over, on the first `next()`. The signal fires when the consumer has gone; a promise that
   * settles after that is dropped, so it must look at the signal before it acquires anything.
   */
  open(signal: AbortSignal): AsyncIterable<TValue> | Promise<AsyncIterable<TValue>>;
  /** Turns a value into what the consumer gets; what it throws ends the iteration. Default: the value as it is. */
  readonly check?: (value: TValue) => TValue | Promise<TValue>;
  /**
   * Turns what the iteration itself threw into what the consumer gets; also told of what its `return()` threw, which
   * nobody gets. Default: as it is.
   */
  readonly mask?: (cause: unknown) => unknown;
  /** Ends the iteration when it closes, and waits for its end. */
  readonly scope: Scope;
  /** Ends the iteration when it fires. */
  readonly signal: AbortSignal | undefined;
}

/** Ends a sink as late as a `next()` that waits: those who end an iteration may have more to say first. */
async function endLater(sink: Sink<never>): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
  sink.ended();
}

/**
 * One consumer's iteration over values that somebody else makes. It ends by `return()`, when a signal fires or when its
 * scope closes, whichever comes first; a `next()` that is waiting is then done at once, even while the maker is busy
 * with something else. The maker is told both ways (its signal, then `return()`).
 *
 * `return()` and the scope's `close()` wait for the maker's `finally`; a maker that ignores both keeps them waiting. Not
 * a generator: one of those would let `return()` wait for the `next()` before it.
 */
export class OwnedIterator<TValue> implements Pushing<TValue>, Sink<TValue> {
  readonly canPush = true;
  readonly #setting: IteratorSetting<TValue>;
  // One step at a time, as a generator would: makers need not expect two.
  readonly #steps = new Serial();
  #linked: LinkedAbort | undefined;
  #opened: AsyncIterable<TValue> | Promise<AsyncIterable<TValue>> | undefined;
  #inner: AsyncIterator<TValue> | undefined;
  /** The consumer, if values are pushed to it. */
  #sink: Sink<TValue> | undefined;
  #interrupt: (() => void) | undefined;
  #forget: (() => void) | undefined;
  #over = false;
  #ending: Promise<void> = Promise.resolve();

  constructor(setting: IteratorSetting<TValue>) {
    this.#setting = setting;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<TValue>> {
    return this.#steps.run(() => this.#advance());
  }

  async return(): Promise<IteratorResult<TValue>> {
    await this.#end();
    return ended;
  }

  /** Iterates where values are checked here, or where the values that it opens cannot be pushed. */
  push(sink: Sink<TValue>): void {
    const linked = (this.#linked ??= this.#begin());
    if (this.#over || this.#setting.check !== undefined) return void iterateTo(this, sink);
    try {
      this.#opened = this.#setting.open(linked.signal);
    } catch (cause) {
      void this.#end();
      return sink.failed(cause);
    }
    if (!isPushing(this.#opened)) return void iterateTo(this, sink);
    this.#sink = sink;
    this.#inner = this.#opened;
    this.#opened.push(this);
  }

  /** Passes on a value that is pushed to this. */
  value(value: TValue): void {
    this.#sink?.value(value);
  }

  /** Ends this as the values that are pushed to it end. */
  ended(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    if (this.#over || sink === undefined) return;
    this.#finish();
    sink.ended();
  }

  /** Ends this as the values that are pushed to it fail. */
  failed(cause: unknown): void {
    const sink = this.#sink;
    this.#sink = undefined;
    if (this.#over || sink === undefined) return;
    this.#inner = undefined;
    void this.#end();
    sink.failed(this.#mask(cause));
  }

  async #advance(): Promise<IteratorResult<TValue>> {
    const linked = (this.#linked ??= this.#begin());
    if (this.#over) return ended;
    try {
      return await this.#unlessOver(this.#step(linked.signal));
    } catch (cause) {
      await this.#end();
      throw cause;
    }
  }

  #begin(): LinkedAbort {
    const { signal, scope } = this.#setting;
    const linked = new LinkedAbort(signal, scope.signal);
    if (linked.signal.aborted) this.#over = true;
    if (this.#over) {
      linked.dispose();
      return linked;
    }
    linked.signal.addEventListener("abort", () => void this.#end(), { once: true });
    this.#forget = scope.add(() => this.#end());
    return linked;
  }

  async #step(signal: AbortSignal): Promise<IteratorResult<TValue>> {
    if (this.#inner === undefined) await this.#open(signal);
    const inner: AsyncIterator<TValue> | undefined = this.#inner;
    if (this.#over || inner === undefined) return ended;
    const result = await this.#ask(inner);
    if (this.#over) return ended;
    if (result.done === true) {
      this.#finish();
      return ended;
    }
    const { check } = this.#setting;
    return check === undefined ? result : { done: false, value: await check(result.value) };
  }

  async #open(signal: AbortSignal): Promise<void> {
    const values = await (this.#opened ?? this.#setting.open(signal));
    try {
      this.#inner = values[Symbol.asyncIterator]();
    } catch (cause) {
      throw this.#mask(cause);
    }
    if (!this.#over) return;
    // Its consumer left before it was there: it is returned now, and a scope that closes waits for that too.
    const leaving = this.#leave();
    const forget = this.#setting.scope.add(() => leaving);
    await leaving;
    forget();
  }

  async #ask(inner: AsyncIterator<TValue>): Promise<IteratorResult<TValue>> {
    try {
      return await inner.next();
    } catch (cause) {
      // What failed has ended by itself: it is not to be returned.
      this.#inner = undefined;
      // An abort that was asked for is no failure.
      if (this.#over) return ended;
      throw this.#mask(cause);
    }
  }

  /** Not `Promise.race()`: that would keep every value alive for as long as the iteration lasts. */
  #unlessOver(step: Promise<IteratorResult<TValue>>): Promise<IteratorResult<TValue>> {
    return new Promise((resolve, reject) => {
      const interrupt = (): void => resolve(ended);
      this.#interrupt = interrupt;
      step.then(resolve, reject);
    });
  }

  #finish(): void {
    this.#over = true;
    this.#linked?.dispose();
    this.#forget?.();
  }

  #end(): Promise<void> {
    if (!this.#over) {
      this.#over = true;
      this.#ending = this.#close();
    }
    return this.#ending;
  }

  async #close(): Promise<void> {
    this.#interrupt?.();
    const sink = this.#sink;
    this.#sink = undefined;
    if (sink !== undefined) void endLater(sink);
    this.#linked?.dispose();
    this.#linked?.abort();
    await this.#leave();
    this.#forget?.();
  }

  async #leave(): Promise<void> {
    try {
      await this.#inner?.return?.();
    } catch (cause) {
      // Nobody is left to be told but the log, which mask() writes.
      this.#mask(cause);
    }
  }

  #mask(cause: unknown): unknown {
    return this.#setting.mask === undefined ? cause : this.#setting.mask(cause);
  }
}

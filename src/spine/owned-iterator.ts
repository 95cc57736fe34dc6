import { LinkedAbort } from "./linked-abort.ts";
import { NextQueue, toPushing, type Pushing, type Sink } from "./pushing.ts";
import type { Scope } from "./scope.ts";

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

/**
 * One consumer's iteration over values that somebody else makes. It ends by `return()`, when a signal fires or when its
 * scope closes, whichever comes first; a `next()` that is waiting is then done at once, even while the maker is busy
 * with something else. The maker is told both ways (its signal, then `return()`).
 *
 * `return()` and the scope's `close()` wait for the maker's `finally`; a maker that ignores both keeps them waiting. Not
 * a generator: one of those would let `return()` wait for the `next()` before it.
 */
export class OwnedIterator<TValue> implements AsyncIterableIterator<TValue>, Pushing<TValue>, Sink<TValue> {
  readonly #setting: IteratorSetting<TValue>;
  #nexts: NextQueue<TValue> | undefined;
  #linked: LinkedAbort | undefined;
  #inner: Pushing<TValue> | undefined;
  /** The consumer, until the end. */
  #sink: Sink<TValue> | undefined;
  #forget: (() => void) | undefined;
  #isChecking = false;
  #over = false;
  #ending: Promise<void> = Promise.resolve();

  constructor(setting: IteratorSetting<TValue>) {
    this.#setting = setting;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get canPush(): boolean {
    return this.#linked === undefined;
  }

  next(): Promise<IteratorResult<TValue>> {
    this.#nexts ??= new NextQueue(this);
    return this.#nexts.next();
  }

  async return(): Promise<IteratorResult<TValue>> {
    await this.#end();
    return ended;
  }

  push(sink: Sink<TValue>): void {
    const signal = this.#begin();
    if (this.#over) return sink.ended();
    this.#sink = sink;
    try {
      const opened = this.#setting.open(signal);
      if (opened instanceof Promise) opened.then(this.#start, this.#fail);
      else this.#start(opened);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  resume(): void {
    this.#inner?.resume();
  }

  /** Whether the values that this opened have to wait: a value is checked before the next is taken. */
  get isFull(): boolean {
    return this.#isChecking || this.#sink === undefined || this.#sink.isFull;
  }

  /** Passes on a value of those that this opened. */
  value(value: TValue): void {
    const { check } = this.#setting;
    if (check === undefined) return this.#sink?.value(value);
    try {
      const checked = check(value);
      if (!(checked instanceof Promise)) return this.#sink?.value(checked);
      this.#isChecking = true;
      checked.then(this.#onChecked, this.#fail);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  /** Ends this as the values that it opened end. */
  ended(): void {
    if (this.#over) return;
    this.#over = true;
    this.#linked?.dispose();
    this.#ending = this.#leaveInner();
    this.#takeSink()?.ended();
  }

  /** Ends this as the values that it opened fail. */
  failed(cause: unknown): void {
    if (this.#over) return;
    // Values that failed have ended by themselves.
    this.#inner = undefined;
    this.#fail(this.#mask(cause));
  }

  #begin(): AbortSignal {
    const { signal, scope } = this.#setting;
    const linked = new LinkedAbort(signal, scope.signal);
    this.#linked = linked;
    if (linked.signal.aborted) this.#over = true;
    if (this.#over) linked.dispose();
    else {
      linked.signal.addEventListener("abort", () => void this.#end(), { once: true });
      this.#forget = scope.add(() => this.#end());
    }
    return linked.signal;
  }

  readonly #start = (values: AsyncIterable<TValue>): void => {
    const inner = toPushing(values);
    if (this.#over) return void this.#leaveLate(inner);
    this.#inner = inner;
    inner.push(this);
  };

  /** Ends values that came after the consumer had left. A scope that closes waits for that too. */
  async #leaveLate(inner: Pushing<TValue>): Promise<void> {
    const leaving = this.#leave(inner);
    const forget = this.#setting.scope.add(() => leaving);
    await leaving;
    forget();
  }

  readonly #onChecked = (value: TValue): void => {
    this.#isChecking = false;
    this.#sink?.value(value);
    this.resume();
  };

  /** Tells the consumer of a failure when the maker has ended. */
  readonly #fail = (cause: unknown): void => {
    const sink = this.#takeSink();
    void this.#end().then(() => sink?.failed(cause));
  };

  #takeSink(): Sink<TValue> | undefined {
    const sink = this.#sink;
    this.#sink = undefined;
    return sink;
  }

  #end(): Promise<void> {
    if (!this.#over) {
      this.#over = true;
      const sink = this.#takeSink();
      this.#linked?.dispose();
      this.#linked?.abort();
      // Known before the consumer is told, which may wait for it.
      this.#ending = this.#leaveInner();
      sink?.ended();
    }
    return this.#ending;
  }

  async #leaveInner(): Promise<void> {
    await this.#leave(this.#inner);
    this.#forget?.();
  }

  async #leave(inner: Pushing<TValue> | undefined): Promise<void> {
    try {
      await inner?.return();
    } catch (cause) {
      // The log, which mask() writes, is the only place left.
      this.#mask(cause);
    }
  }

  /** Never throws: what an author has thrown may throw when it is read. */
  #mask(cause: unknown): unknown {
    try {
      return this.#setting.mask === undefined ? cause : this.#setting.mask(cause);
    } catch (fault) {
      return fault;
    }
  }
}

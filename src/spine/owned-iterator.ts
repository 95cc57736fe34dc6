import { ended, NextQueue, toPushing, type Pushing, type Sink } from "./pushing.ts";
import type { Scope } from "./scope.ts";
import { LinkedAbort } from "./signals.ts";

/** Dependencies of an {@link OwnedIterator}. */
export interface OwnedIteratorDeps<TValue> {
  /** Opens the values, on the first `next()`. The signal fires when the consumer leaves; values that come after that are ended. */
  open(signal: AbortSignal): AsyncIterable<TValue> | Promise<AsyncIterable<TValue>>;
  /** Converts a value for the consumer; an error ends the iteration. @default the value as it is */
  readonly check?: (value: TValue) => TValue | Promise<TValue>;
  /** Converts an error of the iteration for the consumer. Receives the errors of its `return()` too. @default the error as it is */
  readonly mask?: (cause: unknown) => unknown;
  /** Returns the error of values that were cut off. Called when the values end, but not when the consumer leaves. @default none */
  readonly cut?: () => Error | undefined;
  /** Called once, when the iteration is over in any way and its maker has been told. */
  readonly over?: () => void;
  /** Ends the iteration when it closes, and waits for that. @default none */
  readonly scope?: Scope;
  /** Ends the iteration when it fires. */
  readonly signal: AbortSignal | undefined;
}

/**
 * The iteration of one consumer over the values of a maker. It ends by `return()`, when a signal fires or when its scope closes. A `next()`
 * that waits is done then at once, even if the maker is busy; the maker gets its signal, then `return()`.
 *
 * `return()` and the scope's `close()` wait for the maker's `finally`, however long that takes. Not a generator, whose `return()` would
 * wait for the `next()` before it.
 */
export class OwnedIterator<TValue> implements AsyncIterableIterator<TValue>, Pushing<TValue>, Sink<TValue> {
  readonly #deps: OwnedIteratorDeps<TValue>;
  #nexts: NextQueue<TValue> | undefined;
  #linked: LinkedAbort | undefined;
  #inner: Pushing<TValue> | undefined;
  /** The consumer, until the end. */
  #sink: Sink<TValue> | undefined;
  #forget: (() => void) | undefined;
  #isChecking = false;
  #over = false;
  #ending: Promise<void> = Promise.resolve();

  constructor(deps: OwnedIteratorDeps<TValue>) {
    this.#deps = deps;
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
      const opened = this.#deps.open(signal);
      if (opened instanceof Promise) opened.then(this.#start, this.#fail);
      else this.#start(opened);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  resume(): void {
    this.#inner?.resume();
  }

  /** A value is checked before the next one is taken. */
  get isFull(): boolean {
    return this.#isChecking || this.#sink === undefined || this.#sink.isFull;
  }

  value(value: TValue): void {
    const { check } = this.#deps;
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

  ended(): void {
    if (this.#over) return;
    const cut = this.#deps.cut?.();
    const sink = this.#takeSink();
    this.#over = true;
    this.#linked?.dispose();
    this.#ending = this.#leaveInner();
    if (cut === undefined) sink?.ended();
    else sink?.failed(cut);
  }

  failed(cause: unknown): void {
    if (this.#over) return;
    // An iteration that failed needs no return().
    this.#inner = undefined;
    this.#fail(this.#mask(cause));
  }

  #begin(): AbortSignal {
    const { signal, scope } = this.#deps;
    const linked = new LinkedAbort(signal, scope?.signal);
    this.#linked = linked;
    if (linked.signal.aborted) this.#over = true;
    if (this.#over) linked.dispose();
    else {
      linked.signal.addEventListener("abort", () => void this.#end(), { once: true });
      this.#forget = scope?.add(() => this.#end());
    }
    return linked.signal;
  }

  readonly #start = (values: AsyncIterable<TValue>): void => {
    const inner = toPushing(values);
    if (this.#over) return void this.#leaveLate(inner);
    this.#inner = inner;
    inner.push(this);
  };

  /** Ends values that were opened too late. A scope that closes waits for that. */
  async #leaveLate(inner: Pushing<TValue>): Promise<void> {
    const leaving = this.#leave(inner);
    const forget = this.#deps.scope?.add(() => leaving);
    await leaving;
    forget?.();
  }

  readonly #onChecked = (value: TValue): void => {
    this.#isChecking = false;
    this.#sink?.value(value);
    this.resume();
  };

  /** The consumer gets the failure when the maker has ended. */
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
      // Set first: the consumer may wait for it.
      this.#ending = this.#leaveInner();
      sink?.ended();
    }
    return this.#ending;
  }

  async #leaveInner(): Promise<void> {
    const leaving = this.#leave(this.#inner);
    // After the maker was told, which may need what its user releases.
    this.#deps.over?.();
    await leaving;
    this.#forget?.();
  }

  async #leave(inner: Pushing<TValue> | undefined): Promise<void> {
    try {
      await inner?.return();
    } catch (cause) {
      // For the log, which mask() writes.
      this.#mask(cause);
    }
  }

  /** Never throws: an author's error may throw when it is read. */
  #mask(cause: unknown): unknown {
    try {
      return this.#deps.mask === undefined ? cause : this.#deps.mask(cause);
    } catch (fault) {
      return fault;
    }
  }
}

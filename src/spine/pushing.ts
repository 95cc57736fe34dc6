/** The end of an iteration. */
export const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** Receives the values of an iteration. Its methods must not throw. */
export interface Sink<TValue> {
  /** Whether it takes no value at present. It calls {@link Pushing.resume} when it does again. */
  readonly isFull: boolean;
  /** Called while the sink is not full. */
  value(value: TValue): void;
  /** Called after the last value, and as soon as the iteration is ended from outside. */
  ended(): void;
  /** Called in place of {@link ended}. */
  failed(cause: unknown): void;
}

/** Values that are pushed, which takes no promise a value. */
export interface Pushing<TValue> {
  /** Whether it has not started. Iterations of authors lack it. Not a base class: bundlers keep every class that extends another. */
  readonly canPush: boolean;
  /** Starts to push, once. May call the sink before it returns. */
  push(sink: Sink<TValue>): void;
  /** Continues after the sink was full. */
  resume(): void;
  /** Ends it, and waits for the end of its maker. */
  return(): Promise<unknown>;
}

/** Pushes the values of an iteration, and takes none while the sink is full. */
class Iteration<TValue> implements Pushing<TValue> {
  readonly canPush = true;
  readonly #values: AsyncIterable<TValue>;
  #iterator: AsyncIterator<TValue> | undefined;
  #sink: Sink<TValue> | undefined;
  #isAsking = false;
  #isOver = false;

  constructor(values: AsyncIterable<TValue>) {
    this.#values = values;
  }

  push(sink: Sink<TValue>): void {
    this.#sink = sink;
    this.resume();
  }

  resume(): void {
    if (this.#isAsking || this.#isOver || this.#sink?.isFull !== false) return;
    this.#isAsking = true;
    try {
      this.#iterator ??= this.#values[Symbol.asyncIterator]();
      Promise.resolve(this.#iterator.next()).then(this.#hand, this.#fail);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  async return(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#iterator ??= this.#values[Symbol.asyncIterator]();
    await this.#iterator.return?.();
  }

  readonly #hand = (step: IteratorResult<TValue>): void => {
    this.#isAsking = false;
    if (this.#isOver) return;
    let value: TValue;
    try {
      if (step.done === true) return this.#end();
      ({ value } = step);
    } catch (cause) {
      // Iterators of authors may return anything.
      return this.#fail(cause);
    }
    this.#sink?.value(value);
    this.resume();
  };

  readonly #fail = (cause: unknown): void => {
    // return() may make the iteration fail.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink?.failed(cause);
  };

  #end(): void {
    this.#isOver = true;
    this.#sink?.ended();
  }
}

/** Converts an iteration into values that are pushed. */
export function toPushing<TValue>(values: AsyncIterable<TValue>): Pushing<TValue> {
  return isPushing(values) ? values : new Iteration(values);
}

function isPushing<TValue>(values: AsyncIterable<TValue>): values is AsyncIterable<TValue> & Pushing<TValue> {
  // Authors may pass a primitive, or an iteration of ours that they have started.
  return "canPush" in new Object(values) && Reflect.get(values, "canPush") === true;
}

interface Waiter<TValue> {
  resolve(result: IteratorResult<TValue>): void;
  reject(cause: unknown): void;
}

/** Calls of `next()` that wait for pushed values. The first call starts the values. */
export class NextQueue<TValue> implements Sink<TValue> {
  readonly #values: Pushing<TValue>;
  readonly #waiters: Waiter<TValue>[] = [];
  #hasStarted = false;
  #end: { readonly failure?: { readonly cause: unknown } } | undefined;

  constructor(values: Pushing<TValue>) {
    this.#values = values;
  }

  get isFull(): boolean {
    return this.#waiters.length === 0;
  }

  next(): Promise<IteratorResult<TValue>> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      if (this.#end !== undefined) this.#tellEnd(this.#end);
      else if (this.#hasStarted) this.#values.resume();
      else this.#start();
    });
  }

  value(value: TValue): void {
    this.#waiters.shift()?.resolve({ done: false, value });
  }

  ended(): void {
    if (this.#end === undefined) this.#tellEnd({});
  }

  failed(cause: unknown): void {
    if (this.#end === undefined) this.#tellEnd({ failure: { cause } });
  }

  #start(): void {
    this.#hasStarted = true;
    this.#values.push(this);
  }

  /** Only the first call of `next()` gets the failure. */
  #tellEnd({ failure }: { readonly failure?: { readonly cause: unknown } }): void {
    const [first, ...others] = this.#waiters.splice(0);
    this.#end = first === undefined && failure !== undefined ? { failure } : {};
    if (failure === undefined) first?.resolve(ended);
    else first?.reject(failure.cause);
    for (const other of others) other.resolve(ended);
  }
}

/** Iterates over the newest values, and skips those between. The last one is delivered before the end. One `next()` at a time. */
export class Newest<TValue> implements AsyncIterableIterator<TValue> {
  readonly #leave: () => unknown;
  #pending: { readonly value: TValue } | undefined;
  #end: { readonly failure?: { readonly cause: unknown } } | undefined;
  #isOver = false;
  #wake: () => void = () => {};

  /** @param leave - called once, if the consumer leaves before the end; `return()` waits for it. */
  constructor(leave: () => unknown) {
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  tell(value: TValue): void {
    if (this.#isOver || this.#end !== undefined) return;
    this.#pending = { value };
    this.#wake();
  }

  /** Ends it after the last value, with the cause of a failure if there is one. */
  finish(failure?: { readonly cause: unknown }): void {
    if (this.#isOver || this.#end !== undefined) return;
    this.#end = failure === undefined ? {} : { failure };
    this.#wake();
  }

  async next(): Promise<IteratorResult<TValue>> {
    for (;;) {
      if (this.#isOver) return ended;
      const pending = this.#pending;
      this.#pending = undefined;
      if (pending !== undefined) return { done: false, value: pending.value };
      if (this.#end !== undefined) {
        this.#isOver = true;
        if (this.#end.failure !== undefined) throw this.#end.failure.cause;
        return ended;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<TValue>> {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    this.#wake();
    if (isFirst && this.#end === undefined) await this.#leave();
    return ended;
  }
}

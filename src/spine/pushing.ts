const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** Receives the values of an iteration. Its methods must not throw. */
export interface Sink<TValue> {
  /** Whether the sink takes no value at present. It calls {@link Pushing.resume} when it takes one again. */
  readonly isFull: boolean;
  /** Called while the sink is not full. */
  value(value: TValue): void;
  /** Called after the last value, and as soon as somebody ends the iteration. */
  ended(): void;
  /** Called in place of {@link ended}. */
  failed(cause: unknown): void;
}

/** Values that are pushed, which takes no promise a value. */
export interface Pushing<TValue> {
  /**
   * Whether it has not begun, and so can push. Tells it from iterations of authors. Not a base class: bundlers keep every class that
   * extends another.
   */
  readonly canPush: boolean;
  /** Starts to push, once. May call the sink before it returns. */
  push(sink: Sink<TValue>): void;
  /** Goes on after the sink was full. */
  resume(): void;
  /** Ends it, and waits until its maker has ended. */
  return(): Promise<unknown>;
}

/** Pushes the values of an iteration, and asks for none while the sink is full. */
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
      // Iterators of authors may answer with anything.
      return this.#fail(cause);
    }
    this.#sink?.value(value);
    this.resume();
  };

  readonly #fail = (cause: unknown): void => {
    // An iteration that was ended may fail because of that.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink?.failed(cause);
  };

  #end(): void {
    this.#isOver = true;
    this.#sink?.ended();
  }
}

/** Returns the values as values that are pushed. */
export function toPushing<TValue>(values: AsyncIterable<TValue>): Pushing<TValue> {
  return isPushing(values) ? values : new Iteration(values);
}

function isPushing<TValue>(values: AsyncIterable<TValue>): values is AsyncIterable<TValue> & Pushing<TValue> {
  // Authors may hand over what is no object, or an iteration of ours that they have begun.
  return "canPush" in new Object(values) && Reflect.get(values, "canPush") === true;
}

interface Waiter<TValue> {
  resolve(result: IteratorResult<TValue>): void;
  reject(cause: unknown): void;
}

/** Calls of `next()` that wait for values that are pushed. Starts with the first, and takes a value for each. */
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

  /** Tells a failure once. */
  #tellEnd({ failure }: { readonly failure?: { readonly cause: unknown } }): void {
    const [first, ...others] = this.#waiters.splice(0);
    this.#end = first === undefined && failure !== undefined ? { failure } : {};
    if (failure === undefined) first?.resolve(ended);
    else first?.reject(failure.cause);
    for (const other of others) other.resolve(ended);
  }
}

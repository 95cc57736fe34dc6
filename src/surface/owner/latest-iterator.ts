import { NextQueue, type Pushing, type Sink } from "../../spine/pushing.ts";

const ended: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** What a {@link LatestIterator} follows. */
export interface Followed<TValue> {
  /** The value now; may be asynchronous. */
  read(): TValue | Promise<TValue>;
  /** Calls `changed` after each change, and perhaps at once; returns what stops it. */
  listen(changed: () => void): () => void;
}

/**
 * Iterates over the newest value: the snapshot first, then a value after each change, skipping what nobody waited for
 * and what repeats. It listens before it reads the snapshot, so that no change in between is lost, and always delivers
 * the last one. A value that cannot be read ends it.
 */
export class LatestIterator<TValue> implements AsyncIterableIterator<TValue>, Pushing<TValue> {
  readonly #followed: Followed<TValue>;
  readonly #nexts = new NextQueue(this);
  #sink: Sink<TValue> | undefined;
  #stop: (() => void) | undefined;
  #last: { readonly value: TValue } | undefined;
  #dirty = true;
  /** Whether a value is on its way to the sink. */
  #isReading = false;
  #over = false;

  constructor(followed: Followed<TValue>) {
    this.#followed = followed;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get canPush(): boolean {
    return this.#sink === undefined;
  }

  next(): Promise<IteratorResult<TValue>> {
    return this.#nexts.next();
  }

  async return(): Promise<IteratorResult<TValue>> {
    this.#finish();
    this.#sink?.ended();
    return ended;
  }

  push(sink: Sink<TValue>): void {
    this.#sink = sink;
    if (this.#over) return sink.ended();
    try {
      this.#stop = this.#followed.listen(this.#onChange);
      // Subscribing may itself have ended this.
      if (this.#over) return this.#finish();
    } catch (cause) {
      return this.#fail(cause);
    }
    this.resume();
  }

  /** Reads at the end of the turn of those who change the source: they may change it again. */
  resume(): void {
    if (!this.#dirty || this.#isReading || this.#over) return;
    this.#isReading = true;
    queueMicrotask(this.#read);
  }

  readonly #onChange = (): void => {
    this.#dirty = true;
    this.resume();
  };

  readonly #read = (): void => {
    this.#isReading = false;
    if (this.#over || this.#sink?.isFull !== false) return;
    this.#dirty = false;
    try {
      const value = this.#followed.read();
      this.#isReading = value instanceof Promise;
      if (value instanceof Promise) value.then(this.#hand, this.#fail);
      else this.#hand(value);
    } catch (cause) {
      this.#fail(cause);
    }
  };

  readonly #hand = (value: TValue): void => {
    if (this.#over) return;
    this.#isReading = false;
    const isSame = this.#last !== undefined && Object.is(this.#last.value, value);
    this.#last = { value };
    if (!isSame) this.#sink?.value(value);
    this.resume();
  };

  readonly #fail = (cause: unknown): void => {
    if (this.#over) return;
    this.#finish();
    this.#sink?.failed(cause);
  };

  #finish(): void {
    this.#over = true;
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.();
  }
}

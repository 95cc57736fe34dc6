import type { Pushing, Sink } from "../../spine/pushing.ts";

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
 * the last one. A value that cannot be read ends it. One `next()` at a time.
 */
export class LatestIterator<TValue> implements Pushing<TValue> {
  readonly canPush = true;
  readonly #followed: Followed<TValue>;
  #stop: (() => void) | undefined;
  #wake: (() => void) | undefined;
  #last: { readonly value: TValue } | undefined;
  #dirty = true;
  #over = false;
  #sink: Sink<TValue> | undefined;
  /** Whether a value is on its way to the sink. */
  #isPushing = false;

  constructor(followed: Followed<TValue>) {
    this.#followed = followed;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<TValue>> {
    try {
      return await this.#advance();
    } catch (cause) {
      this.#finish();
      throw cause;
    }
  }

  async return(): Promise<IteratorResult<TValue>> {
    this.#finish();
    return ended;
  }

  push(sink: Sink<TValue>): void {
    this.#sink = sink;
    try {
      this.#listen();
    } catch (cause) {
      return this.#fail(cause);
    }
    this.#schedule();
  }

  /** Reads at the end of the turn of those who change the source: they may change it again. */
  #schedule(): void {
    if (this.#isPushing || this.#over) return;
    this.#isPushing = true;
    queueMicrotask(this.#read);
  }

  readonly #read = (): void => {
    if (this.#over) return;
    this.#dirty = false;
    try {
      const value = this.#followed.read();
      if (value instanceof Promise) value.then(this.#hand, this.#fail);
      else this.#hand(value);
    } catch (cause) {
      this.#fail(cause);
    }
  };

  readonly #hand = (value: TValue): void => {
    if (this.#over) return;
    this.#isPushing = false;
    const isSame = this.#last !== undefined && Object.is(this.#last.value, value);
    this.#last = { value };
    if (!isSame) this.#sink?.value(value);
    if (this.#dirty) this.#schedule();
  };

  readonly #fail = (cause: unknown): void => {
    if (this.#over) return;
    this.#finish();
    this.#sink?.failed(cause);
  };

  async #advance(): Promise<IteratorResult<TValue>> {
    if (!this.#over && this.#stop === undefined) this.#listen();
    while (!this.#over) {
      if (!this.#dirty) await this.#change();
      if (this.#over) break;
      this.#dirty = false;
      const value = await this.#followed.read();
      if (this.#over) break;
      if (this.#last !== undefined && Object.is(this.#last.value, value)) continue;
      this.#last = { value };
      return { done: false, value };
    }
    return ended;
  }

  #change(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #listen(): void {
    this.#stop = this.#followed.listen(() => {
      this.#dirty = true;
      this.#wake?.();
      if (this.#sink !== undefined) this.#schedule();
    });
    // Subscribing may itself have ended this.
    if (this.#over) this.#finish();
  }

  #finish(): void {
    this.#over = true;
    const stop = this.#stop;
    this.#stop = undefined;
    stop?.();
    this.#wake?.();
  }
}

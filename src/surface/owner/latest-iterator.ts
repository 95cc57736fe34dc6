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
export class LatestIterator<TValue> implements AsyncIterableIterator<TValue> {
  readonly #followed: Followed<TValue>;
  #stop: (() => void) | undefined;
  #wake: (() => void) | undefined;
  #last: { readonly value: TValue } | undefined;
  #dirty = true;
  #over = false;

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

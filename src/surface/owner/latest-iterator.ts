import { ended, NextQueue, type Pushing, type Sink } from "../../spine/pushing.ts";

interface LatestSource<TValue> {
  read(): TValue | Promise<TValue>;
  /** Calls `changed` after each change, and perhaps at once; returns a function that stops it. */
  listen(changed: () => void): () => void;
}

/** Iterates over the newest value: the snapshot, then each change. Always delivers the last one. A read that fails ends it. */
export class LatestIterator<TValue> implements AsyncIterableIterator<TValue>, Pushing<TValue> {
  readonly #source: LatestSource<TValue>;
  readonly #nexts = new NextQueue(this);
  #sink: Sink<TValue> | undefined;
  #stop: (() => void) | undefined;
  #last: { readonly value: TValue } | undefined;
  #dirty = true;
  /** Whether a value is on its way to the sink. */
  #isReading = false;
  #over = false;

  constructor(source: LatestSource<TValue>) {
    this.#source = source;
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
      this.#stop = this.#source.listen(this.#onChange);
      // The subscription may have ended this iteration.
      if (this.#over) return this.#finish();
    } catch (cause) {
      return this.#fail(cause);
    }
    this.resume();
  }

  /** Reads at the end of the turn, since the code that changes the source may change it again. */
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
      const value = this.#source.read();
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

/** Wraps a check so that an `Object.is`-equal value is not checked again, unless the check has rejected. */
export function createCheckOnce(check: (raw: unknown) => unknown): (raw: unknown) => unknown {
  let known: { readonly raw: unknown; readonly value: unknown } | undefined;
  return (raw) => {
    if (known !== undefined && Object.is(known.raw, raw)) return known.value;
    const checked = { raw, value: check(raw) };
    known = checked;
    if (checked.value instanceof Promise) {
      checked.value.catch(() => {
        if (known === checked) known = undefined;
      });
    }
    return checked.value;
  };
}

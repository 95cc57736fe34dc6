import { LinkedAbort } from "../../spine/linked-abort.ts";

const ended: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** What an {@link AbortableIterator} runs. */
export interface AbortableSetting {
  /** Starts the handler with the signal that ends it, on the first `next()`. What it throws is not masked again. */
  open(signal: AbortSignal): Promise<AsyncIterable<unknown>>;
  /** Checks a value on its way out. */
  check(value: unknown): unknown;
  /** Turns what the handler threw into what the consumer may see. */
  mask(cause: unknown): Error;
  /** Any of these ends the iteration. */
  readonly signals: readonly (AbortSignal | undefined)[];
}

/**
 * A handler's iteration that ends for its consumer as soon as a signal fires, even while the handler is waiting for
 * something else; the handler is told both ways (its signal, then `return()`), and its `finally` is awaited.
 */
export class AbortableIterator implements AsyncIterableIterator<unknown> {
  readonly #setting: AbortableSetting;
  readonly #linked: LinkedAbort;
  readonly #aborted: Promise<typeof ended>;
  #inner: AsyncIterator<unknown> | undefined;
  #done = false;
  #ending: Promise<void> | undefined;

  constructor(setting: AbortableSetting) {
    this.#setting = setting;
    this.#linked = new LinkedAbort(...setting.signals);
    const { signal } = this.#linked;
    this.#aborted = new Promise((resolve) => {
      if (signal.aborted) resolve(ended);
      else signal.addEventListener("abort", () => resolve(ended), { once: true });
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown>> {
    if (this.#done || this.#linked.signal.aborted) return this.return();
    const inner = (this.#inner ??= await this.#open());
    try {
      return await this.#step(inner);
    } catch (cause) {
      const tolerated = this.#linked.signal.aborted;
      await this.#end();
      if (tolerated) return ended;
      throw this.#setting.mask(cause);
    }
  }

  async return(): Promise<IteratorResult<unknown>> {
    await this.#end();
    return ended;
  }

  async #open(): Promise<AsyncIterator<unknown>> {
    try {
      const values = await this.#setting.open(this.#linked.signal);
      return values[Symbol.asyncIterator]();
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  async #step(inner: AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
    const step = inner.next();
    const result = await Promise.race([step, this.#aborted]);
    if (this.#linked.signal.aborted) {
      // The step that lost the race may still fail; nobody is left to be told.
      Promise.resolve(step).catch(() => {});
      return this.return();
    }
    if (result.done === true) return this.#finish();
    return { done: false, value: await this.#setting.check(result.value) };
  }

  #finish(): IteratorResult<unknown> {
    this.#done = true;
    this.#linked.dispose();
    return ended;
  }

  #end(): Promise<void> {
    this.#ending ??= this.#close();
    return this.#ending;
  }

  async #close(): Promise<void> {
    const finished = this.#done;
    this.#finish();
    this.#linked.abort();
    if (finished) return;
    try {
      await this.#inner?.return?.();
    } catch (cause) {
      // Its consumer has gone: the fault is reported by mask() and thrown to nobody.
      this.#setting.mask(cause);
    }
  }
}

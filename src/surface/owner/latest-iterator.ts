import { LinkedAbort } from "../../spine/linked-abort.ts";
import type { Scope } from "../../spine/scope.ts";
import type { UseOptions } from "../client.ts";

/** What a {@link LatestIterator} follows, and until when. */
export interface Followed<TValue> {
  /** The value now; may be asynchronous. */
  read(): TValue | Promise<TValue>;
  /** Calls `changed` after each change; returns what stops it. */
  listen(changed: () => void): () => void;
  /** The iteration ends when this closes, */
  readonly scope: Scope;
  /** or when its signal fires. */
  readonly use: UseOptions;
}

/**
 * Iterates over the newest value: the snapshot first, then a value after each change, skipping what nobody waited for
 * and what repeats. It listens before it reads the snapshot, so that no change in between is lost, and always delivers
 * the last one. Not a generator: `return()` must end a `next()` that is still waiting.
 */
export class LatestIterator<TValue> implements AsyncIterableIterator<TValue> {
  readonly #followed: Followed<TValue>;
  #linked: LinkedAbort | undefined;
  #stop: (() => void) | undefined;
  #wake: (() => void) | undefined;
  #last: { readonly value: TValue } | undefined;
  #dirty = true;
  #done = false;

  constructor(followed: Followed<TValue>) {
    this.#followed = followed;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<TValue>> {
    this.#start();
    while (!this.#done) {
      if (!this.#dirty) await this.#change();
      if (this.#done) break;
      this.#dirty = false;
      const value = await this.#followed.read();
      if (this.#last !== undefined && Object.is(this.#last.value, value)) continue;
      this.#last = { value };
      return { done: false, value };
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<TValue>> {
    this.#finish();
    return { done: true, value: undefined };
  }

  #change(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #start(): void {
    if (this.#linked !== undefined) return;
    this.#linked = new LinkedAbort(this.#followed.use.signal, this.#followed.scope.signal);
    if (this.#linked.signal.aborted) {
      this.#finish();
      return;
    }
    this.#linked.signal.addEventListener("abort", () => this.#finish(), { once: true });
    this.#stop = this.#followed.listen(() => {
      this.#dirty = true;
      this.#wake?.();
    });
  }

  #finish(): void {
    this.#done = true;
    this.#linked?.dispose();
    this.#stop?.();
    this.#stop = undefined;
    this.#wake?.();
  }
}

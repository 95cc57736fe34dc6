import type { Source } from "./source.ts";

/** A signal, as `@preact/signals-core` makes them: written to, or computed from others. */
export interface SignalLike<TValue> {
  readonly value: TValue;
  /** The value now, without making whoever is being computed depend on it. */
  peek?(): TValue;
  /** Calls `fn` with the value now and after each change. Returns what stops it. */
  subscribe(fn: (value: TValue) => void): () => void;
}

/**
 * Makes a source of a signal.
 *
 * @example
 * ```ts
 * const live = implementSurface(counter, { value: fromSignal(count), ...rest });
 * ```
 */
export function fromSignal<TValue>(signal: SignalLike<TValue>): Source<TValue> {
  return {
    get: () => (signal.peek === undefined ? signal.value : signal.peek()),
    subscribe: (fn) => signal.subscribe(fn),
  };
}

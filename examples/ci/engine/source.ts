/** A value that changes, read by `get` and followed by `subscribe`. */
export interface Source<TValue> {
  /** The value now. */
  get(): TValue;
  /** Calls `listener` with each later value (not with the present one) until the returned function is called. */
  subscribe(listener: (value: TValue) => void): () => void;
}

/** A {@link Source} together with the right to write it. */
export interface WritableSource<TValue> extends Source<TValue> {
  /** Replaces the value and tells every listener, also when the value is the same. */
  set(value: TValue): void;
}

/**
 * Makes a source that holds `initial`. A listener that throws does not keep others from hearing: its error becomes an
 * uncaught exception, as with an `EventTarget`.
 */
export function createSource<TValue>(initial: TValue): WritableSource<TValue> {
  let current = initial;
  const listeners = new Set<{ readonly call: (value: TValue) => void }>();
  return {
    get: () => current,
    set(value) {
      current = value;
      // `current` and not `value`: a listener may have written again, and nobody should end with the older value.
      for (const listener of listeners) tell(listener.call, current);
    },
    subscribe(call) {
      // A wrapper, so that one function subscribed twice counts as two.
      const listener = { call };
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function tell<TValue>(listener: (value: TValue) => void, value: TValue): void {
  try {
    listener(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

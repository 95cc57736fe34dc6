/** Receives the values of an iteration. Its methods must not throw. */
export interface Sink<TValue> {
  value(value: TValue): void;
  /** Called after the last value. */
  ended(): void;
  /** Called in place of {@link ended}. */
  failed(cause: unknown): void;
}

/** An iteration that can also push its values, which takes no promises. Use it one way, once. `return()` ends it. */
export interface Pushing<TValue> extends AsyncIterableIterator<TValue> {
  /** Tells it from iterations of authors. Not a base class: bundlers keep every class that extends another. */
  readonly canPush: true;
  /** Starts to push. May call the sink before it returns. */
  push(sink: Sink<TValue>): void;
}

/** Returns whether values can be pushed. */
export function isPushing<TValue>(
  values: AsyncIterable<TValue> | Promise<AsyncIterable<TValue>>,
): values is Pushing<TValue> {
  return "canPush" in values && values.canPush === true;
}

/** Iterates over values, and hands them to a sink until the signal fires. */
export async function iterateTo<TValue>(
  values: AsyncIterable<TValue>,
  sink: Sink<TValue>,
  signal?: AbortSignal,
): Promise<void> {
  try {
    for await (const value of values) {
      if (signal?.aborted === true) return;
      sink.value(value);
    }
  } catch (cause) {
    return sink.failed(cause);
  }
  sink.ended();
}

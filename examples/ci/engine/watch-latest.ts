import { createPullQueue } from "./pull-queue.ts";

/** What {@link watchLatest} follows. */
export interface Watchable<TValue> {
  /** The value now. */
  read(): TValue;
  /** Calls `listener` after each change until the returned function is called. */
  subscribe(listener: () => void): () => void;
}

/**
 * Yields the present value at once and then the newest one after each change, until one of the signals aborts.
 * Changes within one turn of the event loop give one value, and a reader that falls behind gets the newest only; the
 * last value is always delivered.
 */
export function watchLatest<TValue>(
  watched: Watchable<TValue>,
  signals: readonly AbortSignal[],
): AsyncIterableIterator<TValue> {
  let turn: NodeJS.Immediate | undefined;
  const stop = (): void => void queue.return();
  const unsubscribe = watched.subscribe(() => {
    turn ??= setImmediate(() => {
      turn = undefined;
      queue.replace(watched.read());
    });
  });
  const queue = createPullQueue<TValue>(() => {
    clearImmediate(turn);
    unsubscribe();
    for (const signal of signals) signal.removeEventListener("abort", stop);
  });
  for (const signal of signals) signal.addEventListener("abort", stop);
  if (signals.some((signal) => signal.aborted)) queue.end();
  else queue.push(watched.read());
  return queue;
}

import { createPullQueue } from "./pull-queue.ts";
import type { PullQueue } from "./pull-queue.ts";

/** One writer, any number of readers, each of whom gets every value published after it began. */
export interface Broadcast<TValue> {
  publish(value: TValue): void;
  /**
   * Reads from this call on (not from the first `next`) until `signal` aborts or the broadcast closes. A slow reader's
   * values are kept without bound: use it for what is rare.
   */
  read(signal: AbortSignal): AsyncIterableIterator<TValue>;
  /** Ends every reader once it has read what is queued, and every later one at once. Idempotent. */
  close(): void;
}

/** Makes a broadcast without readers. */
export function createBroadcast<TValue>(): Broadcast<TValue> {
  const readers = new Set<PullQueue<TValue>>();
  let closed = false;
  return {
    publish(value) {
      for (const reader of readers) reader.push(value);
    },
    read(signal) {
      const stop = (): void => void queue.return();
      const queue = createPullQueue<TValue>(() => {
        readers.delete(queue);
        signal.removeEventListener("abort", stop);
      });
      if (closed || signal.aborted) queue.end();
      else {
        readers.add(queue);
        signal.addEventListener("abort", stop);
      }
      return queue;
    },
    close() {
      closed = true;
      for (const reader of readers) reader.end();
    },
  };
}

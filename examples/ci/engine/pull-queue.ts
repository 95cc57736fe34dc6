/** An async iterator fed by hand. One reader; after `end` what is still queued is read, then it is done. */
export interface PullQueue<TValue> extends AsyncIterableIterator<TValue> {
  push(value: TValue): void;
  /** Drops whatever is queued and queues this value instead. */
  replace(value: TValue): void;
  /** Ends the iterator, drops nothing. Idempotent. */
  end(): void;
  /** Ends the iterator; unlike a generator's, it also frees a reader that is waiting in `next`. */
  return(): Promise<IteratorResult<TValue>>;
}

/** Makes an open, empty queue. `onEnd` runs once, when the queue ends for whatever reason. */
export function createPullQueue<TValue>(onEnd: () => void): PullQueue<TValue> {
  let queued: IteratorResult<TValue>[] = [];
  let waiting: ((result: IteratorResult<TValue>) => void)[] = [];
  let ended = false;
  const push = (value: TValue): void => {
    if (ended) return;
    const reader = waiting.shift();
    if (reader) reader({ done: false, value });
    else queued.push({ done: false, value });
  };
  const end = (): void => {
    if (ended) return;
    ended = true;
    for (const reader of waiting) reader({ done: true, value: undefined });
    waiting = [];
    onEnd();
  };
  const next = (): Promise<IteratorResult<TValue>> => {
    const first = queued.shift();
    if (first) return Promise.resolve(first);
    if (ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => waiting.push(resolve));
  };
  return {
    push,
    end,
    next,
    replace(value) {
      queued = [];
      push(value);
    },
    return() {
      queued = [];
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

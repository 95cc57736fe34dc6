/** How many calls run at once on one connection; further ones wait their turn. */
const maxRunning = 64;

/** Above this many waiting calls the connection should stop reading. */
const maxWaiting = 256;

/** Starts calls in order, only so many at once. What waits can be taken back. */
export class CallQueue<TKey> {
  readonly #waiting = new Map<TKey, () => void>();
  #running = 0;

  /** Whether so much is waiting that no more should be read. */
  get crowded(): boolean {
    return this.#waiting.size >= maxWaiting;
  }

  /** Runs `start` now or when there is room. Whoever was started calls {@link done} once. */
  add(key: TKey, start: () => void): void {
    if (this.#running >= maxRunning) {
      this.#waiting.set(key, start);
      return;
    }
    this.#running += 1;
    start();
  }

  /** Takes back a call that is still waiting. */
  withdraw(key: TKey): boolean {
    return this.#waiting.delete(key);
  }

  /** A call that was started is over: the next one starts. */
  done(): void {
    const next = this.#waiting.entries().next();
    if (next.done === true) {
      this.#running -= 1;
      return;
    }
    const [key, start] = next.value;
    this.#waiting.delete(key);
    start();
  }

  /** Forgets everything that waits. */
  clear(): void {
    this.#waiting.clear();
  }
}

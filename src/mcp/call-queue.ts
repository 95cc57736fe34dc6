/** How many calls run at once on one connection, unless somebody says otherwise; further ones wait their turn. */
const defaultRunning = 64;

/** More than this many are not kept waiting. */
const maxWaiting = 256;

/** Starts calls in order, only so many at once, and none while it is held. What waits can be taken back. */
export class CallQueue<TKey> {
  /** Made for the first call that waits: over HTTP there is a queue for each session, and most calls start at once. */
  #waiting: Map<TKey, () => void> | undefined;
  readonly #maxRunning: number;
  #running = 0;
  #held = false;

  constructor(maxRunning: number = defaultRunning) {
    this.#maxRunning = maxRunning;
  }

  /** Whether so much is waiting that one more must be refused. */
  get full(): boolean {
    return this.#size >= maxWaiting;
  }

  /** True when nothing runs, nothing waits and the queue is not held. */
  get idle(): boolean {
    return this.#running === 0 && this.#size === 0 && !this.#held;
  }

  /** The queue starts nothing while this is set. */
  get held(): boolean {
    return this.#held;
  }

  /** Runs `start` now or when there is room. Whoever was started calls {@link done} once. */
  add(key: TKey, start: () => void): void {
    if (this.#held || this.#running >= this.#maxRunning) {
      (this.#waiting ??= new Map()).set(key, start);
      return;
    }
    this.#running += 1;
    start();
  }

  /** Takes back a call that is still waiting. */
  withdraw(key: TKey): boolean {
    return this.#waiting?.delete(key) === true;
  }

  /** A call that was started is over: the next one starts. */
  done(): void {
    this.#running -= 1;
    this.#startWaiting();
  }

  /** Starts nothing until it is let go: there is no room for the answers. What runs goes on. */
  hold(held: boolean): void {
    this.#held = held;
    this.#startWaiting();
  }

  /** Starts the next call although the queue is held. Returns `false` if nothing waits or there is no room. */
  startOne(): boolean {
    const [next] = this.#waiting ?? [];
    if (next === undefined || this.#running >= this.#maxRunning) return false;
    const [key, start] = next;
    this.#waiting?.delete(key);
    this.#running += 1;
    start();
    return true;
  }

  /** Forgets everything that waits. */
  clear(): void {
    this.#waiting?.clear();
  }

  get #size(): number {
    return this.#waiting === undefined ? 0 : this.#waiting.size;
  }

  #startWaiting(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    for (const [key, start] of waiting) {
      // Asked each time: a call that answers at once may fill the output.
      if (this.#held || this.#running >= this.#maxRunning) return;
      waiting.delete(key);
      this.#running += 1;
      start();
    }
  }
}

import type { Turn } from "./methods.ts";

/** A request that needs a place. */
export interface QueuedCall {
  /** Called when the request has its place. It calls {@link CallQueue.done} once. */
  start(): void;
}

/** Calls that run at once on one connection, by default. */
const defaultRunning = 64;

/** Calls that wait; a further one is refused. */
const maxWaiting = 256;

/** Starts requests in order, only so many at once, and none while it is held. */
export class CallQueue {
  /** Created for the first request that waits: most start at once. */
  #waiting: Set<QueuedCall> | undefined;
  readonly #maxRunning: number;
  readonly #onIdle: (() => void) | undefined;
  #running = 0;
  #held = false;

  /** @param onIdle - called whenever nothing runs or waits any more. */
  constructor(maxRunning: number = defaultRunning, onIdle?: () => void) {
    this.#maxRunning = maxRunning;
    this.#onIdle = onIdle;
  }

  /** Starts a request now or when there is room. Returns `false` if too many wait. */
  add(call: QueuedCall): boolean {
    if (!this.#held && this.#running < this.#maxRunning) {
      this.#start(call);
      return true;
    }
    const waiting = (this.#waiting ??= new Set());
    if (waiting.size >= maxWaiting) return false;
    waiting.add(call);
    return true;
  }

  /** Removes a request that waits. Returns `false` if it was started. */
  withdraw(call: QueuedCall): boolean {
    return this.#waiting?.delete(call) === true;
  }

  /**
   * Frees the place of a request, and starts the next.
   *
   * @param isUnread - the system has not taken the answer: the next requests start one in each turn of the event loop, so that
   * the sockets of other clients come between. One, because Node accepts one connection a turn.
   */
  done(isUnread = false): void {
    this.#running -= 1;
    if (isUnread && !this.#held) this.#rest();
    this.#startWaiting();
  }

  /** Starts nothing until it is released: there is no room for answers. Running requests go on. */
  hold(held: boolean): void {
    this.#held = held;
    this.#startWaiting();
  }

  #rest(): void {
    this.#held = true;
    const startNext = (): void => {
      const [next] = this.#waiting ?? [];
      if (next === undefined || this.#running >= this.#maxRunning) return this.hold(false);
      this.#waiting?.delete(next);
      this.#start(next);
      setImmediate(startNext);
    };
    setImmediate(startNext);
  }

  #startWaiting(): void {
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      for (const call of waiting) {
        // Read each time: a call that answers at once may fill the output.
        if (this.#held || this.#running >= this.#maxRunning) return;
        waiting.delete(call);
        this.#start(call);
      }
    }
    if (this.#running === 0 && !this.#held) this.#onIdle?.();
  }

  #start(call: QueuedCall): void {
    this.#running += 1;
    call.start();
  }
}

/** The queues of one connection. Reads have their own: calls may run for minutes, and a read must not wait behind them. */
export type TurnQueues = Readonly<Record<Exclude<Turn, "none">, CallQueue>>;

/** Creates the queues of one connection. */
export function createQueues(maxRunning?: number): TurnQueues {
  return { calls: new CallQueue(maxRunning), reads: new CallQueue(maxRunning) };
}

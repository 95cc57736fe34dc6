import type { Scope } from "../../spine/scope.ts";
import { Ring } from "./ring.ts";

/** What a {@link Feed} runs. */
export interface FeedSetting {
  readonly capacity: number;
  readonly scope: Scope;
  /** Starts the handler; called again when the feed is used after it had ended. The feed ends it with `return()`. */
  open(): AsyncIterableIterator<unknown>;
}

interface Waiter {
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * One handler's iteration, shared by everybody who asks for its values, with the last of them kept in a ring. It runs
 * from its first use until it ends, the surface closes, or it is stopped.
 */
export class Feed {
  readonly ring: Ring<unknown>;
  readonly #setting: FeedSetting;
  readonly #waiters = new Set<Waiter>();
  #running: { readonly values: AsyncIterableIterator<unknown>; readonly done: Promise<void> } | undefined;

  constructor(setting: FeedSetting) {
    this.ring = new Ring(setting.capacity);
    this.#setting = setting;
  }

  /** Whether somebody is waiting; such a feed must not be evicted. */
  get wanted(): boolean {
    return this.#waiters.size > 0;
  }

  /** Whether the handler is running. A feed whose handler ended keeps its ring. */
  get running(): boolean {
    return this.#running !== undefined;
  }

  /** Starts the handler unless it is running. */
  ensure(): void {
    if (this.#running !== undefined || this.#setting.scope.closed) return;
    const values = this.#setting.open();
    const running = { values, done: this.#run(values) };
    this.#running = running;
    const forget = this.#setting.scope.add(() => this.stop());
    void running.done.then(() => {
      forget();
      if (this.#running === running) this.#running = undefined;
      this.#wakeAll();
    });
  }

  /** Stops the handler and waits for its end. */
  async stop(): Promise<void> {
    const running = this.#running;
    await running?.values.return?.();
    await running?.done;
  }

  /**
   * Resolves after the next value, when the handler ends, or when `signal` fires; rejects when the handler fails. The
   * caller looks at the ring afterwards.
   */
  change(signal: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        signal.removeEventListener("abort", waiter.wake);
      };
      const waiter: Waiter = {
        wake: () => {
          leave();
          resolve();
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      if (signal.aborted) {
        resolve();
        return;
      }
      this.#waiters.add(waiter);
      signal.addEventListener("abort", waiter.wake, { once: true });
    });
  }

  async #run(values: AsyncIterable<unknown>): Promise<void> {
    // Lets the caller of ensure() start to wait before a handler that fails at once does so.
    await Promise.resolve();
    try {
      for await (const value of values) {
        this.ring.push(value);
        this.#wakeAll();
      }
    } catch (error) {
      for (const waiter of [...this.#waiters]) waiter.fail(error);
    }
  }

  #wakeAll(): void {
    for (const waiter of [...this.#waiters]) waiter.wake();
  }
}

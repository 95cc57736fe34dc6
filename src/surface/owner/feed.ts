import { randomBytes } from "node:crypto";
import type { Scope } from "../../spine/scope.ts";
import { burst, nextTurn } from "./next-turn.ts";
import { Ring } from "./ring.ts";

/** What a {@link Feed} runs. */
export interface FeedSetting {
  readonly capacity: number;
  readonly scope: Scope;
  /**
   * How long after its last use the handler is put to rest, in milliseconds. Default: it is not, since what happens
   * while it rests is seen by nobody.
   */
  readonly idleMs?: number;
  /** Starts the handler; called again when the feed is used after it had ended. The feed ends it with `return()`. */
  open(): AsyncIterableIterator<unknown>;
}

interface Waiter {
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
}

interface Running {
  readonly values: AsyncIterableIterator<unknown>;
  readonly done: Promise<void>;
}

/**
 * One handler's iteration, shared by everybody who asks for its values, with the last of them kept in a ring. It runs
 * from its first use until it ends, the surface closes, it is put to rest or it is stopped. One that no longer runs can be
 * started again, with the ring as it was: nothing that it said is lost, and what happens while it is not running is what
 * its handler does not say.
 */
export class Feed {
  readonly ring: Ring<unknown>;
  /** Names this ring's life in cursors, so that those of another one are recognised. */
  readonly generation: string = randomBytes(5).toString("hex");
  readonly #setting: FeedSetting;
  readonly #waiters = new Set<Waiter>();
  #running: Running | undefined;
  #isFinished = false;
  #users = 0;
  /** The number of the newest value when the handler was last put to rest. */
  #rested = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(setting: FeedSetting) {
    this.ring = new Ring(setting.capacity);
    this.#setting = setting;
  }

  /** Whether somebody is using it; such a feed must not be stopped. */
  get wanted(): boolean {
    return this.#users > 0;
  }

  /** Whether the handler is running. A feed whose handler ended keeps its ring. */
  get running(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Resolves when what the handler has said by now is in the ring: a value takes a few turns of the microtask queue from
   * its `yield` to here.
   */
  landed(): Promise<void> {
    return nextTurn();
  }

  /** Whether the newest value was said since the handler last rested. */
  get fresh(): boolean {
    return this.ring.last > this.#rested;
  }

  /** Marks the feed as used; returns what ends the use. */
  hold(): () => void {
    this.#users += 1;
    clearTimeout(this.#idle);
    return () => {
      this.#users -= 1;
      this.#expectRest();
    };
  }

  /**
   * Starts the handler unless it is running or has finished: one that ended by itself has said what there is, and to
   * look at that again is no reason to have it said again. One that failed is started.
   */
  begin(): void {
    if (!this.#isFinished) this.ensure();
  }

  /** Starts the handler unless it is running, for somebody who wants more than there is. */
  ensure(): void {
    if (this.#running !== undefined || this.#setting.scope.closed) return;
    const values = this.#setting.open();
    const running = { values, done: this.#run(values) };
    this.#running = running;
    const forget = this.#setting.scope.add(() => this.stop());
    void running.done.then(forget);
    this.#expectRest();
  }

  /** Stops the handler and waits for its end. */
  async stop(): Promise<void> {
    const running = this.#running;
    clearTimeout(this.#idle);
    await running?.values.return?.();
    await running?.done;
  }

  #expectRest(): void {
    clearTimeout(this.#idle);
    if (this.#setting.idleMs === undefined || this.wanted || !this.running) return;
    this.#idle = setTimeout(() => this.#rest(), this.#setting.idleMs).unref();
  }

  #rest(): void {
    const running = this.#running;
    if (running === undefined) return;
    // Let go of before it has ended: a use from here on is to start another, and not to wait for this one.
    this.#running = undefined;
    this.#rested = this.ring.last;
    // Until its handler has ended, which is the handler's own to do, the iteration is registered with the scope.
    void running.values.return?.();
  }

  /**
   * Resolves after the next value, when the handler ends, or when `signal` fires; rejects when the handler fails. The
   * caller looks at the ring afterwards.
   */
  change(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
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
      this.#waiters.add(waiter);
      signal.addEventListener("abort", waiter.wake, { once: true });
    });
  }

  async #run(values: AsyncIterable<unknown>): Promise<void> {
    // Lets the caller of ensure() start to wait before a handler that fails at once does so.
    await Promise.resolve();
    let count = 0;
    this.#isFinished = false;
    try {
      for await (const value of values) {
        this.ring.push(value);
        this.#wakeAll();
        count += 1;
        if (count % burst === 0) await nextTurn();
      }
      if (this.#isCurrent(values)) this.#isFinished = true;
    } catch (error) {
      for (const waiter of [...this.#waiters]) waiter.fail(error);
    } finally {
      // Here and not a turn later: a use in between would take it for running, and wait for nothing.
      if (this.#isCurrent(values)) this.#end();
    }
  }

  #isCurrent(values: AsyncIterable<unknown>): boolean {
    return this.#running?.values === values;
  }

  #end(): void {
    this.#running = undefined;
    clearTimeout(this.#idle);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const waiter of [...this.#waiters]) waiter.wake();
  }
}

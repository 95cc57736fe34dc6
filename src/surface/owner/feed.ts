import { randomBytes } from "node:crypto";
import type { Scope } from "../../spine/scope.ts";
import { unrefTimer } from "../system-clock.ts";
import type { EventMemory } from "./event-memory.ts";
import { burst, nextTurn } from "./next-turn.ts";
import { Rearm } from "./rearm.ts";
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
  /** Whether a handler that failed is started again by itself, after a while. Default: by the next use. */
  readonly rearms?: boolean;
  /** What the handler says besides its values. Default: nothing. */
  readonly memory?: EventMemory;
  /** Starts the handler; called again when the feed is used after it had ended. The feed ends it with `return()`. */
  open(): AsyncIterableIterator<unknown>;
}

interface Waiter {
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
}

/** One run of a handler, for those who follow it to its end. */
export interface Run {
  /** Counts the runs of a feed, from 1. */
  readonly number: number;
  /** The number of the newest value when it began: those of its own are greater. */
  readonly after: number;
  /** Set once it is over; with what the handler failed, where it did. */
  readonly end: { readonly failure?: { readonly error: unknown } } | undefined;
}

interface Running {
  readonly values: AsyncIterableIterator<unknown>;
  readonly run: { -readonly [Key in keyof Run]: Run[Key] };
  done: Promise<void>;
}

/** How a feed is used: asked for what there is, now and then, or watched for as long as somebody cares. */
export type FeedUse = "asked" | "watched";

const over: Run = Object.freeze({ number: Infinity, after: Infinity, end: {} });

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
  readonly #rearm: Rearm | undefined;
  #runs = 0;
  #isFinished = false;
  readonly #users = { asked: 0, watched: 0 };
  /** Runs for a while after each question; while it does, a watcher that leaves does not put the handler to rest. */
  #idle: NodeJS.Timeout | undefined;
  #wasAsked = false;

  constructor(setting: FeedSetting) {
    this.ring = new Ring(setting.capacity);
    this.#setting = setting;
    const onLanded = (): void => this.#wakeAll();
    if (setting.memory !== undefined) setting.memory.onLanded = onLanded;
    if (setting.rearms === true) this.#rearm = new Rearm(setting.scope, () => this.begin());
  }

  /** Whether somebody is using it; such a feed must not be stopped. */
  get wanted(): boolean {
    return this.#users.asked + this.#users.watched > 0;
  }

  /** Whether the handler is running. A feed whose handler ended keeps its ring. */
  get running(): boolean {
    return this.#running !== undefined;
  }

  /** Whether the ring says nothing yet of what was kept further up, by a handler that is to tell that first. */
  get isLanding(): boolean {
    return this.#setting.memory?.isLanding === true;
  }

  /** How many runs have begun. */
  get runs(): number {
    return this.#runs;
  }

  /**
   * Resolves when what the handler has said by now is in the ring: a value takes a few turns of the microtask queue from
   * its `yield` to here.
   */
  said(): Promise<void> {
    return nextTurn();
  }

  /**
   * Resolves when a handler that has to tell first what is kept further up has done so, or when `signal` fires; rejects
   * when it fails before it knows what that is.
   */
  async landed(signal: AbortSignal): Promise<void> {
    while (this.isLanding && !signal.aborted) {
      this.ensure();
      try {
        await this.change(signal);
      } catch (cause) {
        // What it has begun to tell it goes on with, after what it failed on.
        if (this.#setting.memory?.state === undefined) throw cause;
      }
    }
  }

  /**
   * Marks the feed as used; returns what ends the use. A handler that may rest does so a while after the last question,
   * and with the last watcher where nobody asked of late.
   */
  hold(use: FeedUse): () => void {
    this.#users[use] += 1;
    if (use === "asked") this.#stayAwake();
    return () => {
      this.#users[use] -= 1;
      if (use === "asked") this.#expectRest({ wasAsked: true });
      else if (!this.#wasAsked) this.#restUnlessWanted();
    };
  }

  /**
   * Starts the handler unless it is running or has finished: one that ended by itself has said what there is, and to
   * look at that again is no reason to have it said again. One that failed is started.
   */
  begin(): void {
    if (!this.#isFinished) this.ensure();
  }

  /** Starts the handler unless it is running, for somebody who wants more than there is. Returns its run. */
  ensure(): Run {
    if (this.#running !== undefined) return this.#running.run;
    if (this.#setting.scope.closed) return over;
    const values = this.#setting.open();
    this.#runs += 1;
    const run = { number: this.#runs, after: this.ring.last, end: undefined };
    const running: Running = { values, run, done: Promise.resolve() };
    this.#running = running;
    running.done = this.#follow(running);
    this.#rearm?.started();
    const forget = this.#setting.scope.add(() => this.stop());
    void running.done.then(forget);
    // A handler that fails again and again is not used for that.
    if (this.#idle === undefined) this.#expectRest({ wasAsked: false });
    return running.run;
  }

  /** Stops the handler and waits for its end. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#stayAwake();
    this.#rearm?.cancel();
    await running?.values.return?.();
    await running?.done;
  }

  #expectRest({ wasAsked }: { readonly wasAsked: boolean }): void {
    this.#stayAwake();
    this.#wasAsked = false;
    if (this.#setting.idleMs === undefined || this.#users.asked > 0 || !this.#mayRest) return;
    this.#wasAsked = wasAsked;
    const rest = (): void => {
      this.#idle = undefined;
      this.#wasAsked = false;
      this.#restUnlessWanted();
    };
    this.#idle = unrefTimer(setTimeout(rest, this.#setting.idleMs));
  }

  /** Whether its handler runs, or is to be started again by itself. */
  get #mayRest(): boolean {
    return this.running || (this.#rearm !== undefined && !this.#isFinished);
  }

  #stayAwake(): void {
    clearTimeout(this.#idle);
    this.#idle = undefined;
  }

  #restUnlessWanted(): void {
    const running = this.#running;
    if (this.#setting.idleMs === undefined || this.wanted || !this.#mayRest) return;
    this.#stayAwake();
    this.#rearm?.cancel();
    // A handler that knows where it was goes on there, and says itself what it has lost.
    if (this.#setting.memory !== undefined && this.#setting.memory.state === undefined) this.ring.skip();
    if (running === undefined) return;
    // Let go of before it has ended: a use from here on is to start another, and not to wait for this one.
    this.#running = undefined;
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

  async #follow(running: Running): Promise<void> {
    // Lets the caller of ensure() start to wait before a handler that fails at once does so.
    await Promise.resolve();
    this.#isFinished = false;
    try {
      await this.#collect(running);
      if (this.#running === running) {
        this.#isFinished = true;
        this.#setting.memory?.landed();
      }
      running.run.end = {};
    } catch (error) {
      running.run.end = { failure: { error } };
      for (const waiter of [...this.#waiters]) waiter.fail(error);
      if (this.#running === running) this.#rearm?.failed();
    } finally {
      // Here and not a turn later: a use in between would take it for running, and wait for nothing.
      if (this.#running === running) this.#end();
    }
  }

  async #collect(running: Running): Promise<void> {
    let count = 0;
    for await (const value of running.values) {
      // Said while it was put to rest: the next run may have said something newer.
      if (this.#running !== running) return;
      this.ring.push(value, this.#setting.memory?.takeGap());
      this.#wakeAll();
      count += 1;
      if (count % burst === 0) await nextTurn();
    }
  }

  #end(): void {
    this.#running = undefined;
    if (!this.#mayRest) {
      this.#stayAwake();
      this.#wasAsked = false;
    }
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const waiter of [...this.#waiters]) waiter.wake();
  }
}

import { randomBytes } from "node:crypto";
import type { Scope } from "../../spine/scope.ts";
import { unrefTimer } from "../system-clock.ts";
import { canonical } from "./canonical.ts";
import { Ring, type EventMemory } from "./ring.ts";
import { stepsPerTurn, nextTurn, RestartBackoff, WaitQueue } from "./waiting.ts";

/** Dependencies of a {@link Feed}. */
export interface FeedDeps {
  readonly capacity: number;
  readonly scope: Scope;
  /** Milliseconds after its last use until the handler is ended. @default never, since values are lost while it does not run */
  readonly idleMs?: number;
  /** Whether a handler that failed is started again after a delay. @default only by the next use */
  readonly restarts?: boolean;
  readonly memory?: EventMemory;
  open(): AsyncIterableIterator<unknown>;
}

/** One run of a handler. */
export interface Run {
  readonly number: number;
  /** Number of the newest value when it began. Its own values have greater numbers. */
  readonly after: number;
  /** The end of the run, with the failure of the handler if there is one. Only the feed sets it. */
  end: { readonly failure?: { readonly error: unknown } } | undefined;
}

interface Running extends Run {
  readonly values: AsyncIterableIterator<unknown>;
  done: Promise<void>;
}

/** Kind of use of a feed: a single read, or a watch. */
export type FeedUse = "read" | "watch";

const over: Run = Object.freeze({ number: Infinity, after: Infinity, end: {} });

/** One iteration of a handler, shared by all its users, until it ends, is idle, or is stopped. The ring outlives it. */
export class Feed {
  readonly ring: Ring<unknown>;
  /** Identifies the ring in cursors. */
  readonly generation: string = randomBytes(5).toString("hex");
  /** Calls that wait for the next value or the end of the run. They reject when the handler fails. */
  readonly changes: WaitQueue = new WaitQueue();
  runs = 0;
  readonly #deps: FeedDeps;
  readonly #restarts: RestartBackoff | undefined;
  #running: Running | undefined;
  #isFinished = false;
  readonly #users = { read: 0, watch: 0 };
  #idleTimer: NodeJS.Timeout | undefined;
  /** Whether the timer was started by a read. Until it fires, a watcher that leaves does not end the handler. */
  #isLingering = false;

  constructor(deps: FeedDeps) {
    this.ring = new Ring(deps.capacity);
    this.#deps = deps;
    const wake = (): void => this.changes.wake();
    if (deps.memory !== undefined) deps.memory.onReplayed = wake;
    if (deps.restarts === true) this.#restarts = new RestartBackoff(deps.scope, () => this.begin());
  }

  /** Returns true while the feed is in use, and so must not be stopped. */
  get isUsed(): boolean {
    return this.#users.read + this.#users.watch > 0;
  }

  get isReplaying(): boolean {
    return this.#deps.memory?.isReplaying === true;
  }

  /** Resolves when the replay has ended, or the signal fires. Rejects if the handler fails before it knows the past. */
  async replayed(signal: AbortSignal): Promise<void> {
    while (this.isReplaying && !signal.aborted) {
      this.ensure();
      try {
        await this.changes.next(signal);
      } catch (cause) {
        // A handler that knows the past goes on behind the occurrence that it failed on.
        if (this.#deps.memory?.state === undefined) throw cause;
      }
    }
  }

  /** Marks the feed as used; returns a function that ends the use. Idle after the last watch, and `idleMs` after the last read. */
  hold(use: FeedUse): () => void {
    this.#users[use] += 1;
    if (use === "read") this.#stopIdleTimer();
    return () => {
      this.#users[use] -= 1;
      if (use === "read") this.#startIdleTimer({ isLingering: true });
      else if (!this.#isLingering) this.#endUnused();
    };
  }

  /** Starts the handler, unless it runs or has ended without a failure: its values are kept. */
  begin(): void {
    if (!this.#isFinished) this.ensure();
  }

  /** Starts the handler unless it runs, for a user who needs more than the kept values. Returns the run. */
  ensure(): Run {
    if (this.#running !== undefined) return this.#running;
    if (this.#deps.scope.closed) return over;
    const values = this.#deps.open();
    this.runs += 1;
    const [number, after, done] = [this.runs, this.ring.last, Promise.resolve()];
    const running: Running = { number, after, end: undefined, values, done };
    this.#running = running;
    running.done = this.#follow(running);
    this.#restarts?.started();
    const forget = this.#deps.scope.add(() => this.stop());
    void running.done.then(forget);
    // The timer goes on over the restarts of a handler that keeps failing.
    if (this.#idleTimer === undefined) this.#startIdleTimer({ isLingering: false });
    return running;
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#stopIdleTimer();
    this.#restarts?.cancel();
    await running?.values.return?.();
    await running?.done;
  }

  #startIdleTimer({ isLingering }: { readonly isLingering: boolean }): void {
    this.#stopIdleTimer();
    this.#isLingering = false;
    const { idleMs } = this.#deps;
    if (idleMs === undefined || this.#users.read > 0 || !this.#isActive) return;
    this.#isLingering = isLingering;
    const end = (): void => {
      this.#idleTimer = undefined;
      this.#isLingering = false;
      this.#endUnused();
    };
    this.#idleTimer = unrefTimer(setTimeout(end, idleMs));
  }

  /** Returns true if the handler runs, or is going to be restarted. */
  get #isActive(): boolean {
    return this.#running !== undefined || (this.#restarts !== undefined && !this.#isFinished);
  }

  #stopIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  #endUnused(): void {
    const { idleMs, memory } = this.#deps;
    if (idleMs === undefined || this.isUsed || !this.#isActive) return;
    this.#stopIdleTimer();
    this.#restarts?.cancel();
    // A handler with a state goes on from there, and reports its losses itself.
    if (memory !== undefined && memory.state === undefined) this.ring.skip();
    const running = this.#running;
    // Cleared before its end, so that a use from now on starts another run and does not wait for this one.
    this.#running = undefined;
    // The scope waits for the end, however long the handler takes.
    void running?.values.return?.();
  }

  async #follow(running: Running): Promise<void> {
    // Lets the caller of ensure() start to wait before a handler fails at once.
    await Promise.resolve();
    this.#isFinished = false;
    try {
      await this.#collect(running);
      if (this.#running === running) {
        this.#isFinished = true;
        this.#deps.memory?.replayed();
      }
      running.end = {};
    } catch (error) {
      running.end = { failure: { error } };
      this.changes.fail(error);
      if (this.#running === running) this.#restarts?.failed();
    } finally {
      // Not a turn later: a use in between would wait for a run that has ended.
      if (this.#running === running) this.#end();
    }
  }

  async #collect(running: Running): Promise<void> {
    let count = 0;
    for await (const value of running.values) {
      // The run was ended meanwhile, and the next one may have yielded newer values.
      if (this.#running !== running) return;
      this.ring.push(value, this.#deps.memory?.takeGap());
      this.changes.wake();
      count += 1;
      if (count % stepsPerTurn === 0) await nextTurn();
    }
  }

  #end(): void {
    this.#running = undefined;
    if (!this.#isActive) {
      this.#stopIdleTimer();
      this.#isLingering = false;
    }
    this.changes.wake();
  }
}

/** Number of inputs of one member whose feeds are kept. Beyond it the least recently used unused one goes. */
const maxFeeds = 64;

/** One feed an input, created and started on first use, bounded. Inputs are validated. */
export class FeedPool {
  readonly #create: (input: unknown) => Feed;
  /** In the order of use. */
  readonly #feeds = new Map<string, Feed>();

  constructor(create: (input: unknown) => Feed) {
    this.#create = create;
  }

  start(input: unknown): void {
    this.#touch(canonical(input), input).begin();
  }

  /** Holds the feed of an input for a read, while `run` is pending. `run` starts the feed. */
  async use<TResult>(input: unknown, run: (feed: Feed) => Promise<TResult>): Promise<TResult> {
    const { feed, release } = this.hold(input, "read");
    try {
      return await run(feed);
    } finally {
      release();
    }
  }

  /** Holds the feed of an input for its caller, who starts it, and calls `release` once. */
  hold(input: unknown, use: FeedUse): { readonly feed: Feed; readonly release: () => void } {
    const key = canonical(input);
    const feed = this.#touch(key, input);
    const end = feed.hold(use);
    const release = (): void => {
      end();
      // The end of a use counts as recent too.
      this.#touch(key, input);
      this.#trim();
    };
    return { feed, release };
  }

  #touch(key: string, input: unknown): Feed {
    const feed = this.#feeds.get(key) ?? this.#create(input);
    this.#feeds.delete(key);
    this.#feeds.set(key, feed);
    return feed;
  }

  #trim(): void {
    for (const [key, feed] of this.#feeds) {
      if (this.#feeds.size <= maxFeeds) return;
      if (feed.isUsed) continue;
      this.#feeds.delete(key);
      void feed.stop();
    }
  }
}

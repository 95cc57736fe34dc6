import { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";
import { setNewest } from "../../spine/collections.ts";
import { internalError, reportToConsole, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import { systemClock } from "../../surface/system-clock.ts";

/** Messages by topic, for at most 10,000 listeners. A topic is a text of 1 to 1,024 characters. */
export interface PubSub {
  /**
   * Calls all listeners of a topic before it returns. A message without a listener is dropped. An error of one listener is
   * reported, and the others are still called.
   *
   * @throws SurfaceError `INVALID_OPTION`.
   */
  publish(topic: string, message: unknown): void;
  /** Adds a listener. Returns a function that removes it. @throws SurfaceError `OVERFLOW`, `INVALID_OPTION`. */
  subscribe(topic: string, listener: (message: unknown) => void): () => void;
}

/** Values by key, not copied. At most 10,000 keys, each a text of 1 to 1,024 characters. */
export interface KeyValue {
  get(key: string): unknown;
  /**
   * Sets a value.
   *
   * @param ttlMs - milliseconds until the value expires. @default never
   * @throws SurfaceError `OVERFLOW`, `INVALID_OPTION`.
   */
  set(key: string, value: unknown, ttlMs?: number): void;
  /** Deletes a value. Returns `false` if there was none. */
  delete(key: string): boolean;
  keys(): readonly string[];
}

/** A claimed job. No other claim gets it until its lease ends. All methods return `false` once the job is acknowledged or its lease has ended. */
export interface Job {
  readonly id: string;
  readonly payload: unknown;
  /** Number of claims of this job, this one included. */
  readonly attempt: number;
  /** Marks the job as done. */
  ack(): boolean;
  /** Puts the job back at the end of the queue; after five attempts it becomes a {@link DeadJob}. */
  fail(reason?: string): boolean;
  /** Sets the end of the lease to `leaseMs` milliseconds from now. @throws SurfaceError `INVALID_OPTION`. */
  extend(leaseMs: number): boolean;
}

/** A job that failed, or whose lease ended, five times. */
export interface DeadJob {
  readonly id: string;
  readonly payload: unknown;
  readonly attempts: number;
  /** The reason of the last failure; `undefined` if none was given, or if the lease ended. */
  readonly reason: string | undefined;
}

/** A queue of jobs, each of which is done once. At most 10,000 jobs are waiting or claimed. */
export interface Jobs {
  /**
   * Adds a job. Returns `false` if its id is waiting, claimed, or among the last 10,000 done. A dead job can be added again.
   *
   * @param id - a text of 1 to 1,024 characters.
   * @throws SurfaceError `OVERFLOW`, `INVALID_OPTION`.
   */
  enqueue(id: string, payload: unknown): boolean;
  /**
   * Claims the job that has waited longest; `undefined` if none waits. The job waits again if it is not done when its lease ends.
   *
   * @param leaseMs - milliseconds of the lease. @default 30000
   * @throws SurfaceError `INVALID_OPTION`.
   */
  claim(leaseMs?: number): Job | undefined;
  /** Number of waiting jobs. */
  readonly waiting: number;
  /** Returns the last 1,000 dead jobs, the oldest first. */
  dead(): readonly DeadJob[];
}

/** The context of handlers in an app without `context()`: in memory, one for each call. */
export interface MemoryContext {
  readonly pubsub: PubSub;
  readonly kv: KeyValue;
  readonly jobs: Jobs;
}

/** Characters of a topic, a key or the id of a job. */
const maxTextLength = 1024;
const maxListeners = 10_000;
const maxKeys = 10_000;
/** Waiting and claimed jobs. */
const maxJobs = 10_000;
/** Ids of done jobs that are kept. */
const maxDone = 10_000;
const maxDead = 1000;
const maxAttempts = 5;
const defaultLeaseMs = 30_000;

function assertText(value: unknown, attempt: string, what: string): asserts value is string {
  if (typeof value === "string" && value !== "" && value.length <= maxTextLength) return;
  throw new SurfaceError("INVALID_OPTION", `${attempt}: ${what} must be a text of 1 to ${maxTextLength} characters`);
}

function assertMilliseconds(value: unknown, attempt: string, what: string): asserts value is number {
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return;
  throw new SurfaceError("INVALID_OPTION", `${attempt}: ${what} must be a number of milliseconds above 0`);
}

/** Topics in memory. One without listeners takes no room. */
class MemoryTopics implements PubSub {
  readonly #topics = new Map<string, Listeners<unknown>>();
  readonly #report: FaultReporter;
  #count = 0;

  constructor(report: FaultReporter) {
    this.#report = report;
  }

  publish(topic: string, message: unknown): void {
    assertText(topic, "Cannot publish a message", "its topic");
    const fail = (cause: unknown): void => void internalError(cause, `listener of topic "${topic}"`, this.#report);
    this.#topics.get(topic)?.tell(message, fail);
  }

  subscribe(topic: string, listener: (message: unknown) => void): () => void {
    assertText(topic, "Cannot subscribe to a topic", "its name");
    const attempt = `Cannot subscribe to topic "${topic}"`;
    if (typeof listener !== "function") {
      throw new SurfaceError("INVALID_OPTION", `${attempt}: the listener must be a function`);
    }
    if (this.#count >= maxListeners) {
      throw new SurfaceError("OVERFLOW", `${attempt}: there are ${maxListeners} listeners already`);
    }
    const listeners = this.#topics.get(topic) ?? new Listeners<unknown>();
    const remove = listeners.add(listener);
    this.#topics.set(topic, listeners);
    this.#count += 1;
    let isSubscribed = true;
    return () => {
      if (!isSubscribed) return;
      isSubscribed = false;
      remove();
      this.#count -= 1;
      // The topic may have been deleted and created again since.
      if (listeners.size === 0 && this.#topics.get(topic) === listeners) this.#topics.delete(topic);
    };
  }
}

interface StoredValue {
  readonly value: unknown;
  readonly expiresAt: number;
}

/** Values in memory. An expired value is deleted when it is read, or when its room is needed: there are no timers. */
class MemoryValues implements KeyValue {
  readonly #values = new Map<string, StoredValue>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): unknown {
    const stored = this.#values.get(key);
    if (stored === undefined) return undefined;
    if (stored.expiresAt > this.#clock.now()) return stored.value;
    this.#values.delete(key);
    return undefined;
  }

  set(key: string, value: unknown, ttlMs?: number): void {
    assertText(key, "Cannot set a value", "its key");
    if (ttlMs !== undefined) assertMilliseconds(ttlMs, `Cannot set "${key}"`, "its time to live");
    if (!this.#values.has(key)) this.#makeRoom(key);
    this.#values.set(key, { value, expiresAt: ttlMs === undefined ? Infinity : this.#clock.now() + ttlMs });
  }

  delete(key: string): boolean {
    const stored = this.#values.get(key);
    this.#values.delete(key);
    return stored !== undefined && stored.expiresAt > this.#clock.now();
  }

  keys(): readonly string[] {
    this.#deleteExpired();
    return [...this.#values.keys()];
  }

  #makeRoom(key: string): void {
    if (this.#values.size >= maxKeys) this.#deleteExpired();
    if (this.#values.size < maxKeys) return;
    throw new SurfaceError("OVERFLOW", `Cannot set "${key}": there are ${maxKeys} keys already`);
  }

  #deleteExpired(): void {
    const now = this.#clock.now();
    for (const [key, { expiresAt }] of this.#values) if (expiresAt <= now) this.#values.delete(key);
  }
}

/** A job in the queue. */
interface QueuedJob {
  readonly id: string;
  readonly payload: unknown;
  attempts: number;
  leaseEndsAt: number;
}

/** A queue in memory. Leases are ended at each operation, not by timers: until then no caller could see the difference. */
class MemoryJobs implements Jobs {
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<string, QueuedJob>();
  readonly #claimed = new Map<string, QueuedJob>();
  /** Ids, the oldest first. */
  readonly #done = new Map<string, true>();
  readonly #dead = new Map<string, DeadJob>();
  readonly #clock: Clock;
  /** No lease ends before this time. */
  #nextLeaseEnd = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get waiting(): number {
    this.#endLeases();
    return this.#waiting.size;
  }

  enqueue(id: string, payload: unknown): boolean {
    assertText(id, "Cannot add a job", "its id");
    this.#endLeases();
    if (this.#waiting.has(id) || this.#claimed.has(id) || this.#done.has(id)) return false;
    if (this.#waiting.size + this.#claimed.size >= maxJobs) {
      throw new SurfaceError("OVERFLOW", `Cannot add job "${id}": there are ${maxJobs} jobs already`);
    }
    this.#dead.delete(id);
    this.#waiting.set(id, { id, payload, attempts: 0, leaseEndsAt: 0 });
    return true;
  }

  claim(leaseMs: number = defaultLeaseMs): Job | undefined {
    assertMilliseconds(leaseMs, "Cannot claim a job", "its lease");
    this.#endLeases();
    const [job] = this.#waiting.values();
    if (job === undefined) return undefined;
    const { id, payload } = job;
    this.#waiting.delete(id);
    this.#claimed.set(id, job);
    job.attempts += 1;
    const attempt = job.attempts;
    this.#lease(job, leaseMs);
    const ifClaimed = (run: () => void): boolean => {
      this.#endLeases();
      const isClaimed = this.#claimed.get(id) === job && job.attempts === attempt;
      if (isClaimed) run();
      return isClaimed;
    };
    return Object.freeze({
      ...{ id, payload, attempt },
      ack: () => ifClaimed(() => this.#finish(id)),
      fail: (reason?: string) => ifClaimed(() => this.#requeue(job, reason)),
      extend: (moreMs: number) =>
        ifClaimed(() => {
          assertMilliseconds(moreMs, `Cannot extend job "${id}"`, "its lease");
          this.#lease(job, moreMs);
        }),
    });
  }

  dead(): readonly DeadJob[] {
    this.#endLeases();
    return Object.freeze([...this.#dead.values()]);
  }

  #finish(id: string): void {
    this.#claimed.delete(id);
    setNewest(this.#done, [id, true], maxDone);
  }

  #requeue(job: QueuedJob, reason: string | undefined): void {
    const { id, payload, attempts } = job;
    this.#claimed.delete(id);
    if (attempts < maxAttempts) this.#waiting.set(id, job);
    else setNewest(this.#dead, [id, Object.freeze({ id, payload, attempts, reason })], maxDead);
  }

  #lease(job: QueuedJob, leaseMs: number): void {
    job.leaseEndsAt = this.#clock.now() + leaseMs;
    this.#nextLeaseEnd = Math.min(this.#nextLeaseEnd, job.leaseEndsAt);
  }

  #endLeases(): void {
    const now = this.#clock.now();
    if (now < this.#nextLeaseEnd) return;
    this.#nextLeaseEnd = Infinity;
    for (const job of [...this.#claimed.values()]) {
      if (job.leaseEndsAt <= now) this.#requeue(job, undefined);
      else this.#nextLeaseEnd = Math.min(this.#nextLeaseEnd, job.leaseEndsAt);
    }
  }
}

/** Options of {@link createMemoryContext}. */
export interface MemoryContextOptions {
  /** @default the clock of this machine */
  readonly clock?: Clock | undefined;
  /** Receives errors of listeners. @default writes them to the console's error stream */
  readonly report?: FaultReporter | undefined;
}

/** Creates a context in memory. It sets no timers, and needs no disposal. */
export function createMemoryContext(options: MemoryContextOptions = {}): MemoryContext {
  const { clock = systemClock, report = reportToConsole } = options;
  return Object.freeze({
    pubsub: new MemoryTopics(report),
    kv: new MemoryValues(clock),
    jobs: new MemoryJobs(clock),
  });
}

/**
 * Creates a context in memory that all calls of an app, or of several, share: messages by topic, values by key, and a job queue.
 * Without it each call has its own. Nothing to close.
 *
 * @example
 * ```ts
 * const shared = memoryContext();
 * const app = mcp(pipeline).context(() => shared);
 * ```
 */
export function memoryContext(): MemoryContext {
  return createMemoryContext();
}

import { SurfaceError } from "../../errors.ts";

/** Messages to whoever listens, at most 10,000 of those. What nobody listens to is gone. Topics are texts of 1 to 1,024 characters. */
export interface PubSub {
  /**
   * Hands a message to all who listen to a topic now, before it returns; what one of them throws is reported, and no matter of
   * the others.
   *
   * @throws SurfaceError `INVALID_OPTION`.
   */
  publish(topic: string, message: unknown): void;
  /**
   * Returns what stops it.
   *
   * @throws SurfaceError `OVERFLOW`, `INVALID_OPTION`.
   */
  subscribe(topic: string, listener: (message: unknown) => void): () => void;
}

/** Values by key, as they are: no copies. At most 10,000 keys, each a text of 1 to 1,024 characters. */
export interface KeyValue {
  get(key: string): unknown;
  /**
   * @param ttlMs - milliseconds until it is gone by itself. Default: never.
   * @throws SurfaceError `OVERFLOW`, `INVALID_OPTION`.
   */
  set(key: string, value: unknown, ttlMs?: number): void;
  /** Whether there was one. */
  delete(key: string): boolean;
  keys(): readonly string[];
}

/** A piece of work that somebody has taken on. Until {@link ack} nobody else does, for as long as its lease lasts. */
export interface Job {
  readonly id: string;
  readonly payload: unknown;
  /** How often it was taken on, this time included. */
  readonly attempt: number;
  /** It is done. `false`: that was said already, or the lease has ended, and it is nobody's or somebody else's. */
  ack(): boolean;
  /** It failed: somebody may take it on again, at once, after those that wait already. `false` as in {@link ack}. */
  fail(reason?: string): boolean;
  /**
   * Holds it for that long from now on, in milliseconds. `false` as in {@link ack}.
   *
   * @throws SurfaceError `INVALID_OPTION`.
   */
  extend(leaseMs: number): boolean;
}

/** A job that was taken on five times, and never done. */
export interface DeadJob {
  readonly id: string;
  readonly payload: unknown;
  readonly attempts: number;
  /** What was said when it failed last; `undefined` where nothing was, or where its lease ended. */
  readonly reason: string | undefined;
}

/** Work to be done once, by whoever takes it on. At most 10,000 jobs wait or are taken on. */
export interface Jobs {
  /**
   * Adds a job; `false`: there is one of this id, waiting, taken on, or among the last 10,000 that were done. One that was given up
   * may be added again, and is given up no more.
   *
   * @param id - a text of 1 to 1,024 characters.
   * @throws SurfaceError `OVERFLOW`, `INVALID_OPTION`.
   */
  enqueue(id: string, payload: unknown): boolean;
  /**
   * Takes on the job that has waited longest; `undefined`: none does. It waits again where it is not done when the lease ends.
   *
   * @param leaseMs - default 30,000.
   * @throws SurfaceError `INVALID_OPTION`.
   */
  claim(leaseMs?: number): Job | undefined;
  /** How many wait. */
  readonly waiting: number;
  /** The last 1,000 that were given up, the oldest first. */
  dead(): readonly DeadJob[];
}

/** What handlers have of their own where their author says nothing: in memory, made anew for each call. */
export interface MemoryContext {
  readonly pubsub: PubSub;
  readonly kv: KeyValue;
  readonly jobs: Jobs;
}

/** The longest topic, key or id of a job, in characters. */
const maxLength = 1024;

/** Refuses what names nothing in a memory context. @throws SurfaceError `INVALID_OPTION`. */
export function assertText(value: unknown, attempt: string, what: string): asserts value is string {
  if (typeof value === "string" && value !== "" && value.length <= maxLength) return;
  throw new SurfaceError("INVALID_OPTION", `${attempt}: ${what} must be a text of 1 to ${maxLength} characters`);
}

/** Refuses what is no span of time. @throws SurfaceError `INVALID_OPTION`. */
export function assertMilliseconds(value: unknown, attempt: string, what: string): asserts value is number {
  if (typeof value === "number" && Number.isFinite(value) && value > 0) return;
  throw new SurfaceError("INVALID_OPTION", `${attempt}: ${what} must be in milliseconds, more than 0`);
}

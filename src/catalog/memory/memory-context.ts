/** Texts to whoever listens. What nobody listens to is gone. */
export interface PubSub {
  /** Hands a message to all who listen to a topic now; each in its own turn, a fault of one is no matter of the others. */
  publish(topic: string, message: unknown): void;
  /** Returns what stops it. */
  subscribe(topic: string, listener: (message: unknown) => void): () => void;
}

/** Values by key. */
export interface KeyValue {
  get(key: string): unknown;
  /** @param ttlMs - milliseconds until it is gone by itself. Default: never. */
  set(key: string, value: unknown, ttlMs?: number): void;
  delete(key: string): boolean;
  keys(): readonly string[];
}

/** A piece of work that somebody has taken on. Until {@link ack} nobody else does, for as long as its lease lasts. */
export interface Job {
  readonly id: string;
  readonly payload: unknown;
  /** How often it was taken on, this time included. */
  readonly attempt: number;
  /** It is done. `false`: the lease had ended, and it is somebody else's by now. */
  ack(): boolean;
  /** It failed: somebody may take it on again, at once. `false` as in {@link ack}. */
  fail(reason?: string): boolean;
  /** Holds it for that much longer from now on, in milliseconds. `false` as in {@link ack}. */
  extend(leaseMs: number): boolean;
}

/** A job that was taken on too often. */
export interface DeadJob {
  readonly id: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly reason: string | undefined;
}

/** Work to be done once, by whoever takes it on. */
export interface Jobs {
  /** Adds a job; `false`: there is one of this id, waiting, taken on, or done a short while ago. */
  enqueue(id: string, payload: unknown): boolean;
  /** Takes on the oldest job that waits; `undefined`: none does. @param leaseMs - default 30,000. */
  claim(leaseMs?: number): Job | undefined;
  /** How many wait. */
  readonly waiting: number;
  /** Those that were given up. */
  dead(): readonly DeadJob[];
}

/** What handlers have of their own where their author says nothing: in memory, made anew for each call. */
export interface MemoryContext {
  readonly pubsub: PubSub;
  readonly kv: KeyValue;
  readonly jobs: Jobs;
}

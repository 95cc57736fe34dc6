/** Callbacks of a subscriber. They must not throw. */
export interface BusListener {
  /** Receives a text that another replica published, in the order of that replica. A text may come twice. */
  message(text: string): void;
  /** Called when texts may have been lost: read again what they would have told. */
  gap(): void;
}

/**
 * Short texts from each replica to all others: that something may have changed, never the value. Delivered at least once, or announced
 * as a gap.
 */
export interface Bus {
  /** Sends a text of at most 64 KiB to the other replicas. Never throws: a text that cannot be sent is a gap for its receivers. */
  publish(topic: string, text: string): void;
  /** Receives the texts of a topic while the cluster is open. Returns a function that ends it; callable twice. */
  subscribe(topic: string, listener: BusListener): () => void;
}

/** A place in a bounded group, such as one of the sessions of a caller. */
export interface SharedPlace {
  readonly group: string;
  /** Places in the group, over all replicas. */
  readonly most: number;
}

/**
 * Values with a time to live, which all replicas share. Keys are any text. Values are well-formed Unicode, such as JSON, of at most
 * 1 MiB. Times are those of the store: the clocks of the replicas may differ. Every method rejects with `UNAVAILABLE` within a second while the store is away or full,
 * and with `OVERFLOW` for a value over the bound.
 */
export interface SharedStore {
  /** Resolves with the time of the store, in milliseconds since 1970. */
  now(): Promise<number>;
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Sets a value if the key has none. Resolves with `true` for exactly one of all replicas, until the value expires. */
  claim(key: string, value: string, ttlMs: number): Promise<boolean>;
  /** Replaces a value if it is still `before`. Resolves with `false` if it is another one, or has expired. */
  swap(key: string, change: { readonly before: string; readonly after: string }, ttlMs: number): Promise<boolean>;
  /** Restarts the time to live. Resolves with `false` if there is no value. */
  renew(key: string, ttlMs: number): Promise<boolean>;
  /** Resolves with `false` if there was no value. */
  delete(key: string): Promise<boolean>;
  /**
   * Takes a place in each group, or renews the places that the member has: all of them or none.
   * Resolves with the first group that is full; `undefined` if the member has its places.
   */
  take(member: string, places: readonly SharedPlace[], ttlMs: number): Promise<string | undefined>;
  /** Gives back the places of a member. */
  leave(member: string, groups: readonly string[]): Promise<void>;
}

/** An entry of a log. */
export interface ReplayEntry {
  /** Counts from 1 without gaps, except for entries that were dropped. */
  readonly number: number;
  readonly text: string;
}

/** Bounds of one log. */
export interface ReplayBounds {
  /** Entries that are kept, about. Older ones are dropped first. */
  readonly maxEntries: number;
  /** Milliseconds after the last entry until the log is dropped. */
  readonly ttlMs: number;
}

/** Logs of short life, for clients that lost their connection. Rejects as {@link SharedStore} does. */
export interface ReplayLog {
  /**
   * Appends an entry. Appends of one replica keep their order.
   * Resolves with `false`, and appends nothing, if the log has an entry of this number or a higher one.
   */
  append(key: string, entry: ReplayEntry, bounds: ReplayBounds): Promise<boolean>;
  /** Resolves with some of the entries behind a number, oldest first. Empty at the end, and for an unknown log. */
  read(key: string, after: number): Promise<readonly ReplayEntry[]>;
}

/** A token bucket. */
export interface Bucket {
  readonly key: string;
  /** Tokens to take. */
  readonly cost: number;
  /** Tokens of a full bucket. */
  readonly size: number;
  /** Milliseconds until one token is back. */
  readonly msPerToken: number;
}

/** Token buckets that all replicas share, by the time of the store. Rejects as {@link SharedStore} does. */
export interface Limiter {
  /** Takes the costs from all buckets, or nothing. Resolves with the milliseconds until there is enough; 0: they were taken. */
  take(buckets: readonly Bucket[]): Promise<number>;
}

/** Options of {@link Cluster.open}. */
export interface OpenClusterOptions {
  /** Name of the app. Replicas of another app under the same prefix are refused. */
  readonly app: string;
  /** Receives what goes wrong later, such as a lost connection; each kind of it once until it is over. */
  readonly report: (cause: unknown) => void;
}

/** An open cluster. */
export interface OpenedCluster {
  /**
   * Resolves when the store was reached and is of the same app and format. Rejects with `INVALID_OPTION` if not of them, and with
   * `UNAVAILABLE` if it was not reached within 5 s, or was closed before. After 5 s the cluster goes on trying.
   */
  readonly ready: Promise<void>;
  /** Leaves the cluster, and releases its own connections, not that of the author. Callable twice. */
  close(): Promise<void>;
}

/** What the replicas of one app share, made by `redis()`. Several openers count; the last to close releases it. */
export interface Cluster {
  /** Id of this replica: new in each process, in lower-case hexadecimal. */
  readonly replica: string;
  readonly bus: Bus;
  readonly store: SharedStore;
  readonly log: ReplayLog;
  readonly limiter: Limiter;
  /** Whether the store answers at present. */
  readonly isAvailable: boolean;
  /**
   * Number of times that this replica gave no sign of life for ten seconds, so that others may have answered for it. Grows as soon as this
   * process wakes from a pause.
   */
  readonly lapses: number;
  /** Resolves with whether a replica has given a sign of life within the last ten seconds. */
  isAlive(replica: string): Promise<boolean>;
  open(options: OpenClusterOptions): OpenedCluster;
}

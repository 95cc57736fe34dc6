/** Whether there is room for one more, and if not, when there will be. */
export type LimitVerdict = { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };

/** Bounds the requests of a caller that run nothing. Answers at once. */
export interface AttemptLimiter {
  /** Returns whether a key has room for one more request. Takes nothing. */
  check(key: string): LimitVerdict;
  charge(key: string): void;
}

/** Counts calls that run, and in `attempts` requests that run nothing: only when a request has ended is it known which it was. */
export interface CallLimiter extends RateLimiter {
  readonly attempts?: AttemptLimiter;
}

/** Counts what is done under a key. Shared by all who serve one application, where it is to hold over all of them. */
export interface RateLimiter {
  /**
   * Takes so much of what is left under a key, or says how long to wait. One that fails or does not answer within a second
   * lets nothing through.
   *
   * @param key - opaque, at most 1 KiB: stands for a caller.
   * @param cost - 1 for a call that only reads, 4 for a call that may change something.
   */
  limit(key: string, cost: number): LimitVerdict | Promise<LimitVerdict>;
}

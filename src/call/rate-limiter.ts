/** Whether there is room for one more, and if not, when there will be. */
export type LimitVerdict = { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };

/** Counts the calls of tools that run, and in `attempts` all that are asked for, whether or not they run. */
export interface CallLimiter extends RateLimiter {
  readonly attempts?: RateLimiter;
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

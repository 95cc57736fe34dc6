import type { RateLimiter } from "../call/rate-limiter.ts";

/** What is used of a limiter of `rate-limiter-flexible`, whatever it counts in. */
export interface FlexibleLimiter {
  /** Resolves when there was room; rejects with what says how long there is none, or with an error. */
  consume(key: string, points: number): Promise<unknown>;
}

/** How long there is no room; `undefined`: something else happened. Errors may have properties of any name. */
function waitOf(rejection: unknown): number | undefined {
  if (typeof rejection !== "object" || rejection === null || rejection instanceof Error) return undefined;
  const wait: unknown = Reflect.get(rejection, "msBeforeNext");
  return typeof wait === "number" && Number.isFinite(wait) ? wait : undefined;
}

/** A union of limiters rejects with one of each that had no room: the longest wait is the one that counts. */
function longestWait(rejection: unknown): number | undefined {
  const own = waitOf(rejection);
  if (own !== undefined || typeof rejection !== "object" || rejection === null || rejection instanceof Error)
    return own;
  const waits = Object.values(rejection).map(waitOf);
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === waits.length && known.length > 0 ? Math.max(...known) : undefined;
}

/**
 * Counts by a limiter of `rate-limiter-flexible`, which can be shared by many processes. Its `points` must be 4 at least:
 * what may change something costs that much. Its owner closes what it counts in. What it fails with is passed on, and lets
 * nothing through.
 */
export function fromRateLimiterFlexible(limiter: FlexibleLimiter): RateLimiter {
  return Object.freeze({
    async limit(key: string, cost: number) {
      try {
        await limiter.consume(key, cost);
        return { ok: true as const };
      } catch (rejection) {
        const wait = longestWait(rejection);
        if (wait === undefined) throw rejection;
        return { ok: false as const, retryAfterMs: Math.max(0, Math.ceil(wait)) };
      }
    },
  });
}

import type { RateLimiter } from "../call/rate-limiter.ts";
import type { Clock } from "../spine/clock.ts";
import type { HttpHandlerOptions, RateLimits } from "./http-options.ts";
import { memoryLimiter } from "./memory-limiter.ts";

function isLimiter(rateLimit: RateLimits | RateLimiter): rateLimit is RateLimiter {
  return "limit" in rateLimit && typeof rateLimit.limit === "function";
}

/**
 * What counts how often callers call tools. `undefined`: nobody does, since it is turned off, or since nobody says who
 * they are: one who calls often would stand for all.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function toLimiter({ auth, rateLimit }: HttpHandlerOptions, clock?: Clock): RateLimiter | undefined {
  if (auth === undefined || rateLimit === false) return undefined;
  if (rateLimit !== undefined && isLimiter(rateLimit)) return rateLimit;
  return memoryLimiter(rateLimit, clock);
}

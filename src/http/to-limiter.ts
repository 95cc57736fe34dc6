import type { AttemptLimiter, CallLimiter, LimitVerdict, RateLimiter } from "../call/rate-limiter.ts";
import type { Clock } from "../spine/clock.ts";
import { isThenable } from "../surface/is-thenable.ts";
import type { HttpHandlerOptions, RateLimits } from "./http-options.ts";
import { memoryAttempts, memoryLimiter } from "./memory-limiter.ts";

function isLimiter(rateLimit: RateLimits | RateLimiter): rateLimit is RateLimiter {
  return "limit" in rateLimit && typeof rateLimit.limit === "function";
}

/**
 * Creates a function that logs the first refusal: an author who never set a limit has to learn that there is one.
 *
 * @param what - the requests that the caller sends too many of.
 */
function createLogger(what: string): (verdict: LimitVerdict) => void {
  let isLogged = false;
  return ({ ok }) => {
    if (ok || isLogged) return;
    isLogged = true;
    // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
    console.error(
      `[surface-mcp] warning: Cannot run a call: its caller sends too many ${what}; "rateLimit" of http() or httpHandler() changes the limit`,
    );
  };
}

/** Joins two limiters, and logs the first refusal of each. */
function joinLimiters(limiter: RateLimiter, attempts: AttemptLimiter): CallLimiter {
  const [onCall, onAttempt] = [createLogger("calls"), createLogger("requests that run nothing")];
  return {
    limit(key, cost) {
      const verdict = limiter.limit(key, cost);
      if (isThenable(verdict)) void Promise.resolve(verdict).then(onCall, () => {});
      else onCall(verdict);
      return verdict;
    },
    attempts: {
      check(key) {
        const verdict = attempts.check(key);
        onAttempt(verdict);
        return verdict;
      },
      charge: (key) => attempts.charge(key),
    },
  };
}

/**
 * Creates the limiter of the callers' calls. Returns `undefined` if the limit is turned off, or if all callers are anonymous: one
 * of them who calls often would use up the calls of all.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function toLimiter({ auth, rateLimit }: HttpHandlerOptions, clock?: Clock): CallLimiter | undefined {
  if (auth === undefined || rateLimit === false) return undefined;
  if (rateLimit !== undefined && isLimiter(rateLimit)) return joinLimiters(rateLimit, memoryAttempts({}, clock));
  return joinLimiters(memoryLimiter(rateLimit, clock), memoryAttempts(rateLimit ?? {}, clock));
}

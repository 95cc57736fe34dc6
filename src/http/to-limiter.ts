import type { AttemptLimiter, CallLimiter, LimitVerdict, RateLimiter } from "../call/rate-limiter.ts";
import type { Clock } from "../spine/clock.ts";
import { isThenable } from "../surface/is-thenable.ts";
import type { HttpHandlerOptions, RateLimits } from "./http-options.ts";
import { memoryAttempts, memoryLimiter } from "./memory-limiter.ts";

function isLimiter(rateLimit: RateLimits | RateLimiter): rateLimit is RateLimiter {
  return "limit" in rateLimit && typeof rateLimit.limit === "function";
}

/** Logs the first refusal: an author who never set a limit has to learn that there is one. */
class FirstRefusal {
  readonly #what: string;
  #isLogged = false;

  /** @param what - the requests that the caller sends too many of. */
  constructor(what: string) {
    this.#what = what;
  }

  readonly look = (verdict: LimitVerdict): void => {
    if (verdict.ok || this.#isLogged) return;
    this.#isLogged = true;
    // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
    console.error(
      `[surface-mcp] warning: Cannot run a call: its caller sends too many ${this.#what}; "rateLimit" of http() or httpHandler() changes the limit`,
    );
  };
}

/** Refuses as two limiters do, and logs the first refusal of each. */
class LoggingLimiter implements CallLimiter {
  readonly attempts: AttemptLimiter;
  readonly #limiter: RateLimiter;
  readonly #refusal = new FirstRefusal("calls");

  constructor(limiter: RateLimiter, attempts: AttemptLimiter) {
    this.#limiter = limiter;
    const refusal = new FirstRefusal("requests that run nothing");
    this.attempts = {
      check: (key) => {
        const verdict = attempts.check(key);
        refusal.look(verdict);
        return verdict;
      },
      charge: (key) => attempts.charge(key),
    };
  }

  limit(key: string, cost: number): LimitVerdict | Promise<LimitVerdict> {
    const verdict = this.#limiter.limit(key, cost);
    if (!isThenable(verdict)) this.#refusal.look(verdict);
    else
      Promise.resolve(verdict)
        .then(this.#refusal.look)
        .catch(() => {});
    return verdict;
  }
}

/**
 * Creates the limiter of the callers' calls. Returns `undefined` if the limit is turned off, or if all callers are anonymous: one
 * of them who calls often would use up the calls of all.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function toLimiter({ auth, rateLimit }: HttpHandlerOptions, clock?: Clock): CallLimiter | undefined {
  if (auth === undefined || rateLimit === false) return undefined;
  if (rateLimit !== undefined && isLimiter(rateLimit)) return new LoggingLimiter(rateLimit, memoryAttempts({}, clock));
  return new LoggingLimiter(memoryLimiter(rateLimit, clock), memoryAttempts(rateLimit ?? {}, clock));
}

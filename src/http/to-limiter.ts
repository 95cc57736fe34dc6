import { isThenable } from "../call/is-thenable.ts";
import type { CallLimiter, LimitVerdict, RateLimiter } from "../call/rate-limiter.ts";
import type { Clock } from "../spine/clock.ts";
import type { HttpHandlerOptions, RateLimits } from "./http-options.ts";
import { memoryLimiter } from "./memory-limiter.ts";

/** Requests to call a tool, of one caller and for all tools together, including those that never run. */
const attemptLimits: RateLimits = { perMinute: 1200, burst: 400 };

function isLimiter(rateLimit: RateLimits | RateLimiter): rateLimit is RateLimiter {
  return "limit" in rateLimit && typeof rateLimit.limit === "function";
}

const firstRefusal =
  'Cannot run a call: its caller calls too often; "rateLimit" of http() or httpHandler() changes the limit';

/** Warns once, of the first refusal: an author who never set a limit has to learn that there is one. */
class WarningLimiter implements CallLimiter {
  readonly attempts: RateLimiter;
  readonly #limiter: RateLimiter;
  #hasWarned = false;

  constructor(limiter: RateLimiter, attempts: RateLimiter) {
    this.#limiter = limiter;
    this.attempts = attempts;
  }

  limit(key: string, cost: number): LimitVerdict | Promise<LimitVerdict> {
    const verdict = this.#limiter.limit(key, cost);
    if (this.#hasWarned) return verdict;
    if (!isThenable(verdict)) this.#look(verdict);
    else
      Promise.resolve(verdict)
        .then(this.#look)
        .catch(() => {});
    return verdict;
  }

  readonly #look = (verdict: LimitVerdict): void => {
    if (this.#hasWarned || verdict.ok) return;
    this.#hasWarned = true;
    // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
    console.error(`[surface-mcp] warning: ${firstRefusal}`);
  };
}

/**
 * Returns what counts how often callers call tools. `undefined` if the limit is turned off, or if all callers are anonymous: one
 * of them who calls often would stand for all.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function toLimiter({ auth, rateLimit }: HttpHandlerOptions, clock?: Clock): CallLimiter | undefined {
  if (auth === undefined || rateLimit === false) return undefined;
  const limiter = rateLimit !== undefined && isLimiter(rateLimit) ? rateLimit : memoryLimiter(rateLimit, clock);
  return new WarningLimiter(limiter, memoryLimiter(attemptLimits, clock));
}

import { readOptions } from "../options/read-options.ts";
import type { AttemptLimiter, LimitVerdict, RateLimiter, CallLimiter } from "../call/limit-call.ts";
import type { Clock } from "../spine/clock.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { RateLimits, HttpHandlerOptions } from "./http-options.ts";
import { rateFields } from "./resolve-options.ts";
import { isThenable } from "../surface/is-thenable.ts";

/** How many keys are remembered. */
const maxKeys = 10_000;

/** How many are left when that is too many: forgetting some at once is what keeps it cheap. */
const keptKeys = 9000;

/** What sums of fractions may be wrong by, in milliseconds: whoever waited as long as they were told is let through. */
const roundingMs = 1e-6;

/**
 * Buckets, each stored as the time when it is full again. A full bucket need not be stored.
 *
 * A call takes one from the bucket of its key, which all calls share. A call that costs more also takes one from a slower bucket
 * for calls of that cost. With one bucket counted in units, a burst of changes would hold up the reads that follow it.
 */
class Buckets implements RateLimiter, AttemptLimiter {
  readonly #fullAt = new Map<string, number>();
  readonly #msPerCall: number;
  readonly #burst: number;
  readonly #clock: Clock;

  constructor({ perMinute, burst }: Required<RateLimits>, clock: Clock) {
    this.#msPerCall = 60_000 / perMinute;
    this.#burst = burst;
    this.#clock = clock;
  }

  limit(key: string, cost: number): LimitVerdict {
    const now = this.#clock.now();
    const slower = cost > 1 ? `${cost} ${key}` : undefined;
    const waitMs = Math.max(this.#waitMs(key, 1, now), slower === undefined ? 0 : this.#waitMs(slower, cost, now));
    if (waitMs > roundingMs) return { ok: false, retryAfterMs: Math.ceil(waitMs) };
    if (slower !== undefined) this.#take(slower, cost, now);
    this.#take(key, 1, now);
    return { ok: true };
  }

  check(key: string): LimitVerdict {
    const waitMs = this.#waitMs(key, 1, this.#clock.now());
    return waitMs > roundingMs ? { ok: false, retryAfterMs: Math.ceil(waitMs) } : { ok: true };
  }

  charge(key: string): void {
    this.#take(key, 1, this.#clock.now());
  }

  #waitMs(bucket: string, cost: number, now: number): number {
    const missingMs = (this.#fullAt.get(bucket) ?? now) - now;
    return missingMs - (this.#burst - 1) * cost * this.#msPerCall;
  }

  #take(bucket: string, cost: number, now: number): void {
    this.#fullAt.set(bucket, Math.max(now, this.#fullAt.get(bucket) ?? now) + cost * this.#msPerCall);
    if (this.#fullAt.size > maxKeys) this.#forget(now);
  }

  /**
   * Forgets those that are full, and then the fullest: to forget one is to fill it. Whoever makes keys to have theirs
   * forgotten gets the fullest of them filled, and keeps the ones that they emptied.
   */
  #forget(now: number): void {
    for (const [key, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(key);
    if (this.#fullAt.size <= keptKeys) return;
    const fullestFirst = [...this.#fullAt].toSorted(([, one], [, other]) => one - other);
    for (const [key] of fullestFirst.slice(0, fullestFirst.length - keptKeys)) this.#fullAt.delete(key);
  }
}

/**
 * Creates a limiter that counts in this process. A key may make `perMinute` calls a minute, `burst` of them in a row; of calls with
 * a cost of 4, a quarter as many a minute and also `burst` in a row. Remembers at most 10,000 buckets. Needs no disposing.
 *
 * @param clock - default: that of this machine.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function memoryLimiter(limits: RateLimits = {}, clock: Clock = systemClock): RateLimiter {
  return new Buckets(readLimits(limits), clock);
}

/** Requests of one caller that run nothing, at least: an agent that reads and searches before it calls is no attack. */
const leastAttempts = { perMinute: 1200, burst: 400 };

/** Creates a limiter for requests that run nothing. It lets through at least ten times as many as the limits let calls through. */
export function memoryAttempts(limits: RateLimits, clock: Clock = systemClock): AttemptLimiter {
  const { perMinute, burst } = readLimits(limits);
  const attempts = {
    perMinute: Math.max(leastAttempts.perMinute, 10 * perMinute),
    burst: Math.max(leastAttempts.burst, 20 * burst),
  };
  return new Buckets(attempts, clock);
}

function readLimits(limits: RateLimits): Required<RateLimits> {
  return readOptions(limits, rateFields, "Making a rate limiter");
}

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
      if (isThenable(verdict))
        void Promise.resolve(verdict)
          .then(onCall)
          .catch(() => {});
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

import { readOptions } from "../options/read-options.ts";
import type { AttemptLimiter, LimitVerdict, RateLimiter } from "../call/rate-limiter.ts";
import type { Clock } from "../spine/clock.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { RateLimits } from "./http-options.ts";
import { rateFields } from "./option-fields.ts";

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

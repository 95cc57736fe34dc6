import { assertKnownOptions } from "../tags/assert-known-options.ts";
import { SurfaceError } from "../errors.ts";
import type { LimitVerdict, RateLimiter } from "../call/rate-limiter.ts";
import type { Clock } from "../spine/clock.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { RateLimits } from "./http-options.ts";

const defaultPerMinute = 120;
const defaultBurst = 80;

/** How many keys are remembered. */
const maxKeys = 10_000;

/** How many are left when that is too many: forgetting some at once is what keeps it cheap. */
const keptKeys = 9000;

/** What sums of fractions may be wrong by, in milliseconds: whoever waited as long as they were told is let through. */
const roundingMs = 1e-6;

function assertLimit(name: string, value: number, isFit: boolean): void {
  if (isFit) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Making a rate limiter: "${name}" must be a number of at least 1, and is ${value}`,
  );
}

/**
 * Buckets, each known by the one moment from which on it is full again. One that is full is as good as one that was
 * never used.
 */
class Buckets implements RateLimiter {
  readonly #fullAt = new Map<string, number>();
  readonly #msPerUnit: number;
  readonly #burstMs: number;
  readonly #clock: Clock;

  constructor({ perMinute, burst }: Required<RateLimits>, clock: Clock) {
    this.#msPerUnit = 60_000 / perMinute;
    this.#burstMs = burst * this.#msPerUnit;
    this.#clock = clock;
  }

  limit(key: string, cost: number): LimitVerdict {
    const now = this.#clock.now();
    const missingMs = Math.max(0, (this.#fullAt.get(key) ?? now) - now);
    const costMs = cost * this.#msPerUnit;
    // What costs more than there ever is takes a full bucket, and is paid for afterwards: else it would never run.
    const mayMissMs = Math.max(0, this.#burstMs - costMs);
    if (missingMs > mayMissMs + roundingMs) return { ok: false, retryAfterMs: Math.ceil(missingMs - mayMissMs) };
    this.#fullAt.set(key, now + missingMs + costMs);
    if (this.#fullAt.size > maxKeys) this.#forget(now);
    return { ok: true };
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

const optionNames = Object.keys({ perMinute: true, burst: true } satisfies Record<keyof RateLimits, true>);

/**
 * Counts in this process: a bucket a key, that fills by the minute and holds `burst`. At most 10,000 keys are remembered.
 * Needs no disposing.
 *
 * @param clock - default: that of this machine.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function memoryLimiter(limits: RateLimits = {}, clock: Clock = systemClock): RateLimiter {
  assertKnownOptions(limits, optionNames, "Making a rate limiter");
  const { perMinute = defaultPerMinute, burst = defaultBurst } = limits;
  assertLimit("perMinute", perMinute, Number.isFinite(perMinute) && perMinute >= 1);
  assertLimit("burst", burst, Number.isFinite(burst) && burst >= 1);
  return new Buckets({ perMinute, burst }, clock);
}

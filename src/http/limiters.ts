import type { AttemptLimiter, LimitVerdict, RateLimiter, CallLimiter } from "../call/limit-call.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { isObject } from "../options/is-object.ts";
import { readOptions } from "../options/read-options.ts";
import type { Clock } from "../spine/clock.ts";
import { isThenable } from "../surface/is-thenable.ts";
import { systemClock } from "../surface/system-clock.ts";
import { type HttpHandlerOptions, rateFields, type RateLimits } from "./options.ts";

/** Most buckets that are kept. */
const maxKeys = 10_000;

/** Buckets that are kept when there are too many. Many are forgotten at once, because each time costs a sort. */
const keptKeys = 9000;

/** Rounding error of sums of fractions, in milliseconds: a client that waited as long as it had to is not refused again. */
const roundingMs = 1e-6;

function toVerdict(waitMs: number): LimitVerdict {
  return waitMs > roundingMs ? { ok: false, retryAfterMs: Math.ceil(waitMs) } : { ok: true };
}

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
    const verdict = toVerdict(waitMs);
    if (!verdict.ok) return verdict;
    if (slower !== undefined) this.#take(slower, cost, now);
    this.#take(key, 1, now);
    return verdict;
  }

  check(key: string): LimitVerdict {
    return toVerdict(this.#waitMs(key, 1, this.#clock.now()));
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
   * Forgets full buckets, and then the fullest of the others, because to forget a bucket is to fill it. So a client that makes up
   * keys cannot refill the buckets that it has emptied.
   */
  #forget(now: number): void {
    for (const [key, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(key);
    if (this.#fullAt.size <= keptKeys) return;
    const fullestFirst = [...this.#fullAt].toSorted(([, one], [, other]) => one - other);
    for (const [key] of fullestFirst.slice(0, fullestFirst.length - keptKeys)) this.#fullAt.delete(key);
  }
}

/**
 * Creates a limiter that counts in this process. A key may make `perMinute` calls a minute, `stepsPerTurn` of them in a row; of calls with
 * a cost of 4, a quarter as many a minute and also `stepsPerTurn` in a row. Remembers at most 10,000 buckets. Needs no disposing.
 *
 * @param clock - @default the clock of this machine
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function memoryLimiter(limits: RateLimits = {}, clock: Clock = systemClock): RateLimiter {
  return new Buckets(readLimits(limits), clock);
}

/**
 * Creates a limiter of requests that run nothing. It allows at least ten times as many as the limits allow calls, and at least 1,200 a
 * minute and 400 in a row: an agent reads and searches before it calls.
 */
function createAttempts(limits: RateLimits, clock: Clock = systemClock): AttemptLimiter {
  const { perMinute, burst } = readLimits(limits);
  return new Buckets({ perMinute: Math.max(1200, 10 * perMinute), burst: Math.max(400, 20 * burst) }, clock);
}

/** Counts by buckets that all replicas share; while their store is away, each replica counts by itself. */
function shareBuckets({ perMinute, burst }: Required<RateLimits>, { limiter }: Cluster, own: RateLimiter): RateLimiter {
  const [size, msPerToken] = [burst, 60_000 / perMinute];
  return {
    limit(key, cost) {
      const call = { key: `rate:${key}`, cost: 1, size, msPerToken };
      // As in Buckets: a slower bucket for the calls of each higher cost.
      const slower = { ...call, key: `rate:${cost}:${key}`, msPerToken: cost * msPerToken };
      return limiter.take(cost > 1 ? [call, slower] : [call]).then(toVerdict, () => own.limit(key, cost));
    },
  };
}

function readLimits(limits: RateLimits): Required<RateLimits> {
  return readOptions(limits, rateFields, "Cannot create a rate limiter");
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
export function createCallLimiter(
  { auth, rateLimit = {}, cluster }: Pick<HttpHandlerOptions, "auth" | "rateLimit" | "cluster">,
  clock?: Clock,
): CallLimiter | undefined {
  if (auth === undefined || rateLimit === false) return undefined;
  if ("limit" in rateLimit) return joinLimiters(rateLimit, createAttempts({}, clock));
  const own = memoryLimiter(rateLimit, clock);
  const shared = cluster && shareBuckets(readLimits(rateLimit), cluster, own);
  return joinLimiters(shared ?? own, createAttempts(rateLimit, clock));
}

/** The part of a limiter of `rate-limiter-flexible` that is used. Its store does not matter. */
export interface FlexibleLimiter {
  /** Resolves if there is room. Rejects with the time until there is room, or with an error. */
  consume(key: string, points: number): Promise<unknown>;
}

/** Returns the milliseconds until there is room; `undefined` for another failure. */
function waitOf(rejection: unknown): number | undefined {
  const wait: unknown = isObject(rejection) ? Reflect.get(rejection, "msBeforeNext") : undefined;
  return typeof wait === "number" && Number.isFinite(wait) ? wait : undefined;
}

/** Returns the longest wait. A union of limiters rejects with one rejection for each that has no room. */
function longestWait(rejection: unknown): number | undefined {
  // Errors may have properties of any name.
  if (!isObject(rejection) || rejection instanceof Error) return undefined;
  const own = waitOf(rejection);
  if (own !== undefined) return own;
  const waits = Object.values(rejection).map((each) => (each instanceof Error ? undefined : waitOf(each)));
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === waits.length && known.length > 0 ? Math.max(...known) : undefined;
}

/**
 * Creates a limiter that counts by a limiter of `rate-limiter-flexible`, which many processes can share. Its `points` must be at
 * least 4, the cost of a tool that may change something. Its owner closes its store. If it fails, the error is passed on, and the
 * call does not run.
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

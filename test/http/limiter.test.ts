import { assert, array, constantFrom, integer, property, record } from "fast-check";
import { RateLimiterMemory, RateLimiterUnion } from "rate-limiter-flexible";
import { describe, expect, it, vi } from "vitest";
import type { LimitVerdict, RateLimiter } from "../../src/call/limit-call.ts";
import { bearer } from "../../src/http/auth/http-auth.ts";
import { fromRateLimiterFlexible, memoryLimiter, createCallLimiter } from "../../src/http/limiters.ts";
import type { RateLimits } from "../../src/http/options.ts";
import { noteRejections, settle } from "../surface/support.ts";

const never = (): never => {
  throw new Error("no timer is needed");
};

/** A limiter of a clock that is set by hand. */
function limiterAt(limits?: RateLimits) {
  const time = { now: 1000 };
  const limiter = memoryLimiter(limits, { now: () => time.now, after: never });
  // It counts in this process: nothing has to be waited for.
  const take = (key = "a", cost = 1): LimitVerdict => limiter.limit(key, cost) as LimitVerdict;
  return { time, take };
}

function waitOf(verdict: LimitVerdict): number {
  return verdict.ok ? 0 : verdict.retryAfterMs;
}

/** How many are let through until one is not. */
function drain(take: (key: string, cost: number) => LimitVerdict, key: string, cost = 1): number {
  let count = 0;
  while (count < 1000 && take(key, cost).ok) count += 1;
  return count;
}

describe("memoryLimiter()", () => {
  it("allows 20 calls at once, and then two a second", () => {
    const { time, take } = limiterAt();
    expect(drain(take, "a")).toBe(20);
    expect(take()).toEqual({ ok: false, retryAfterMs: 500 });
    time.now += 499;
    expect(take()).toEqual({ ok: false, retryAfterMs: 1 });
    time.now += 1;
    expect(take()).toEqual({ ok: true });
    expect(take()).toEqual({ ok: false, retryAfterMs: 500 });
  });

  it("allows 20 changes at once and 30 a minute, and delays no read that follows", () => {
    const { time, take } = limiterAt();
    expect(drain(take, "a", 4)).toBe(20);
    expect(take("a", 4)).toEqual({ ok: false, retryAfterMs: 2000 });
    time.now += 500;
    expect(take("a", 1)).toEqual({ ok: true });
    let count = 0;
    for (let second = 0; second < 600; second += 1) {
      time.now += 1000;
      count += drain(take, "a", 4);
    }
    expect(count).toBe(300);
  });

  it("counts keys apart", () => {
    const { take } = limiterAt({ burst: 1 });
    expect(take("a")).toEqual({ ok: true });
    expect(take("b")).toEqual({ ok: true });
    expect(take("a").ok).toBe(false);
  });

  it("holds at most one burst after any rest", () => {
    const { time, take } = limiterAt({ burst: 5 });
    time.now += 1e12;
    expect(drain(take, "a")).toBe(5);
  });

  it("takes nothing from the calls of a key when it refuses a change", () => {
    const { time, take } = limiterAt();
    drain(take, "a", 4);
    for (let index = 0; index < 100; index += 1) take("a", 4);
    time.now += 1000;
    expect(drain(take, "a")).toBe(2);
  });

  it("charges nothing for a refused call", () => {
    const { time, take } = limiterAt({ burst: 1 });
    take();
    for (let index = 0; index < 100; index += 1) take();
    time.now += 1000;
    expect(take()).toEqual({ ok: true });
  });

  it("never exceeds burst and rate, and never refuses a caller who waited as long as asked", () => {
    const step = record({ waits: integer({ min: 0, max: 20_000 }), cost: constantFrom(1, 4) });
    const limits = record({ perMinute: integer({ min: 1, max: 1000 }), burst: integer({ min: 1, max: 50 }) });
    const check = ({ perMinute, burst }: Required<RateLimits>, steps: readonly { waits: number; cost: number }[]) => {
      const { time, take } = limiterAt({ perMinute, burst });
      const start = time.now;
      const used = { 1: 0, 4: 0 };
      for (const { waits, cost } of steps) {
        time.now += waits;
        const verdict = take("a", cost);
        time.now += waitOf(verdict);
        expect(verdict.ok || take("a", cost).ok).toBe(true);
        used[1] += 1;
        if (cost === 4) used[4] += 1;
        const perMs = perMinute / 60_000;
        expect(used[1]).toBeLessThanOrEqual(burst + (time.now - start) * perMs + 1e-3);
        expect(used[4]).toBeLessThanOrEqual(burst + ((time.now - start) * perMs) / 4 + 1e-3);
      }
    };
    assert(property(limits, array(step, { maxLength: 100 }), check));
  });

  it("remembers at most 10,000 keys", () => {
    const { take } = limiterAt({ burst: 1 });
    const keys = Array.from({ length: 25_000 }, (_, index) => `key ${index}`);
    for (const key of keys) take(key);
    // Who was forgotten is let through again.
    const forgotten = keys.filter((key) => take(key).ok);
    expect(forgotten.length).toBeGreaterThanOrEqual(15_000);
  });

  it("gives each new key one full bucket, and keeps emptied buckets", () => {
    const { take } = limiterAt();
    const emptied = Array.from({ length: 100 }, (_, index) => `emptied ${index}`);
    for (const key of emptied) drain(take, key);
    for (let index = 0; index < 30_000; index += 1) take(`fresh ${index}`);
    expect(emptied.filter((key) => take(key).ok)).toEqual([]);
    expect(drain(take, "fresh 0")).toBeLessThanOrEqual(20);
  });

  it.each<[string, object]>([
    ["it lets nothing through", { perMinute: 0 }],
    ["its rate is no number", { perMinute: Number.NaN }],
    ["its rate is endless", { perMinute: Number.POSITIVE_INFINITY }],
    ["its bucket holds nothing", { burst: 0 }],
    ["its bucket is a text", { burst: "20" }],
  ])("is refused when %s", (_, limits) => {
    expect(() => memoryLimiter(limits)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});

describe("createCallLimiter()", () => {
  const auth = bearer({ resource: "https://ci.example/mcp", verify: async () => undefined });

  it("limits no anonymous caller", () => {
    expect(createCallLimiter({})).toBeUndefined();
    expect(createCallLimiter({ rateLimit: { perMinute: 1 } })).toBeUndefined();
  });

  it("fails only the call when the author's limiter resolves without a verdict", async () => {
    const rejections = noteRejections();
    const limiter = createCallLimiter({ auth, rateLimit: { limit: async () => undefined as never } });
    await limiter?.limit("a", 1);
    await settle(5);
    expect(rejections.end()).toEqual([]);
  });

  it("limits no caller when it is turned off", () => {
    expect(createCallLimiter({ auth, rateLimit: false })).toBeUndefined();
  });

  it("limits by default, by limits, and by a limiter of the author's", async () => {
    const own = { limit: vi.fn<RateLimiter["limit"]>(() => ({ ok: true })) };
    expect(createCallLimiter({ auth, rateLimit: own })?.limit("a", 4)).toEqual({ ok: true });
    expect(own.limit.mock.calls).toEqual([["a", 4]]);
    const clock = { now: () => 0, after: never };
    const counts = [];
    for (const options of [{ auth }, { auth, rateLimit: { burst: 3 } }]) {
      const limiter = createCallLimiter(options, clock);
      let count = 0;
      while (count < 100 && (await limiter?.limit("a", 1))?.ok === true) count += 1;
      counts.push(count);
    }
    expect(counts).toEqual([20, 3]);
  });

  it.each<[object | undefined, number]>([
    [undefined, 400],
    [{ burst: 1 }, 400],
    [{ burst: 100 }, 2000],
    [{ limit: () => ({ ok: true }) }, 400],
  ])("bounds requests that run nothing by more than %o", (rateLimit, most) => {
    const attempts = createCallLimiter(
      { auth, ...(rateLimit && { rateLimit }) },
      { now: () => 0, after: never },
    )?.attempts;
    let count = 0;
    while (count < 5000 && attempts?.check("a").ok === true) {
      attempts.charge("a");
      count += 1;
    }
    expect(count).toBe(most);
    expect(attempts?.check("b")).toEqual({ ok: true });
  });
});

describe("fromRateLimiterFlexible()", () => {
  it("passes on the limiter's verdict, and the time to wait", async () => {
    const limiter = fromRateLimiterFlexible(new RateLimiterMemory({ points: 7, duration: 60 }));
    expect(await limiter.limit("a", 1)).toEqual({ ok: true });
    expect(await limiter.limit("a", 6)).toEqual({ ok: true });
    const refused = await limiter.limit("a", 1);
    expect(refused).toEqual({ ok: false, retryAfterMs: expect.any(Number) });
    expect(waitOf(refused)).toBeGreaterThan(50_000);
    expect(await limiter.limit("b", 1)).toEqual({ ok: true });
  });

  it("takes the longest wait of several limiters", async () => {
    const short = new RateLimiterMemory({ keyPrefix: "short", points: 1, duration: 1 });
    const long = new RateLimiterMemory({ keyPrefix: "long", points: 1, duration: 60 });
    const limiter = fromRateLimiterFlexible(new RateLimiterUnion(short, long));
    expect(await limiter.limit("a", 1)).toEqual({ ok: true });
    const refused = await limiter.limit("a", 1);
    expect(waitOf(refused)).toBeGreaterThan(50_000);
  });

  it.each([
    ["an error", new Error("the store is gone")],
    ["an error that knows a wait", Object.assign(new Error("gone"), { msBeforeNext: 1 })],
    ["nothing", undefined],
    ["an empty object", {}],
    ["a wait that is no number", { msBeforeNext: Number.NaN }],
    ["a union of which one failed", { a: { msBeforeNext: 1 }, b: new Error("gone") }],
  ])("allows nothing and passes on the error when the limiter rejects with %s", async (_, rejection) => {
    const limiter = fromRateLimiterFlexible({ consume: async () => Promise.reject(rejection) });
    await expect(limiter.limit("a", 1)).rejects.toBe(rejection);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import { chargeCall, type LimitVerdict, type RateLimiter } from "../../src/call/limit-call.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { bespoke } from "./support.ts";

const ada: Caller = { id: "ada", isAnonymous: false, scopes: ["probe:read", "probe:write"] };
const tool = bespoke({ handler: () => undefined });
const reading = bespoke({ mutates: false, handler: () => undefined });

const faults: Fault[] = [];
const report = (fault: Fault): void => void faults.push(fault);

/** Asks a limiter that answers like this. */
async function ask(limit: RateLimiter["limit"], more: { caller?: Caller; tool?: typeof tool } = {}): Promise<unknown> {
  const { tool: asked = tool, caller = ada } = more;
  return chargeCall(asked, new CallContext({ limiter: { limit }, caller }), report);
}

/** What a limiter was asked. */
async function askedOf(more: { caller?: Caller; tool?: typeof tool }): Promise<readonly unknown[]> {
  const asked: unknown[] = [];
  await ask((key, cost) => {
    asked.push(key, cost);
    return { ok: true };
  }, more);
  return asked;
}

/** Calls what returns anything, as an author who cast might have it. */
function careless(answer: unknown): RateLimiter["limit"] {
  return () => answer as LimitVerdict;
}

beforeEach(() => void faults.splice(0));

describe("chargeCall()", () => {
  it("chargeCall() charges the caller, for all tools together, and more for mutating ones", async () => {
    expect(await askedOf({})).toEqual(['[null,"ada",null,""]', 4]);
    expect(await askedOf({ tool: reading })).toEqual(['[null,"ada",null,""]', 1]);
  });

  it("chargeCall() uses different keys for different callers with any ids", async () => {
    const [quoting] = await askedOf({ caller: { ...ada, id: "ada probe" } });
    const [named] = await askedOf({ caller: { ...ada, id: "ada" } });
    expect(quoting).not.toBe(named);
    const [long] = await askedOf({ caller: { ...ada, id: "a".repeat(100_000) } });
    const [longer] = await askedOf({ caller: { ...ada, id: "a".repeat(100_001) } });
    expect(long).toMatch(/^#[\w-]{43}$/);
    expect(long).not.toBe(longer);
  });

  it("chargeCall() charges no anonymous caller, and nothing without a limiter", async () => {
    expect(await askedOf({ caller: anonymous })).toEqual([]);
    expect(chargeCall(tool, new CallContext({ caller: ada }), report)).toBe(undefined);
  });

  it("chargeCall() asks nothing of a tool that only calls others", async () => {
    expect(await askedOf({ tool: { ...tool, isUncounted: true } })).toEqual([]);
  });

  it.each([
    ["at once", { ok: false, retryAfterMs: 1200.5 }],
    ["later", Promise.resolve({ ok: false, retryAfterMs: 1200.5 })],
  ])("chargeCall() returns the time to wait for the verdict %s", async (_when, verdict) => {
    expect(await ask(careless(verdict))).toEqual({
      kind: "refused",
      code: "RATE_LIMITED",
      message: "too many calls: wait 1201 ms before the next",
      issues: [],
      details: { retryAfterMs: 1201 },
      correlationId: undefined,
      retryable: true,
    });
    expect(faults).toEqual([]);
  });

  it.each<readonly [string, RateLimiter["limit"]]>([
    ["throws", () => Promise.reject(new TypeError("secret"))],
    [
      "throws at once",
      () => {
        throw new TypeError("secret");
      },
    ],
    ["answers nothing", careless(undefined)],
    ["answers what is only like yes", careless({ ok: "true" })],
    ["answers what is only like yes later", careless(Promise.resolve({ ok: 1 }))],
    ["answers no verdict", careless({ retryAfterMs: 5 })],
    ["says to wait for ever", careless({ ok: false, retryAfterMs: Number.POSITIVE_INFINITY })],
    ["says to wait for less than nothing", careless({ ok: false, retryAfterMs: -1 })],
    ["does not say how long to wait", careless({ ok: false })],
    ["says it in no number", careless({ ok: false, retryAfterMs: Symbol("secret") })],
    [
      "throws when it is looked at",
      careless({
        get ok() {
          throw new TypeError("secret");
        },
      }),
    ],
  ])("chargeCall() refuses when a limiter %s, with a masked report", async (_what, limit) => {
    const refused = await ask(limit);
    expect(refused).toMatchObject({ kind: "refused", code: "INTERNAL", correlationId: faults[0]?.correlationId });
    expect(JSON.stringify(refused)).not.toContain("secret");
    expect(faults).toMatchObject([{ where: 'the rate limiter, before tool "probe"', cause: { code: "INTERNAL" } }]);
  });
});

describe("chargeCall() with a clock", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("chargeCall() refuses when a limiter does not answer within a second, and ignores its late answer", async () => {
    let fail: (cause: unknown) => void = () => {};
    const asked = ask(() => new Promise((_resolve, reject) => (fail = reject)));
    await vi.advanceTimersByTimeAsync(999);
    expect(faults).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toMatchObject({ code: "INTERNAL" });
    expect(faults).toMatchObject([{ cause: { cause: { code: "TIMEOUT" } } }]);
    // It is looked after: this would end the process.
    fail(new TypeError("late"));
    await vi.advanceTimersByTimeAsync(10);
    expect(faults).toHaveLength(1);
  });

  it("chargeCall() clears its timer when a limiter has answered", async () => {
    expect(await ask(() => Promise.resolve({ ok: true }))).toBe(undefined);
    expect(vi.getTimerCount()).toBe(0);
  });
});

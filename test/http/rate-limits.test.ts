import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { bearer, httpHandler, type HttpHandler, type HttpHandlerOptions } from "../../src/http/index.ts";
import { cell, cellSource, defineSurface, mcp, mcpResource } from "../../src/index.ts";
import type { LimitVerdict } from "../../src/call/limit-call.ts";
import { able } from "./asking/ask-harness.ts";
import { modernPost } from "./support/modern-post.ts";

const resource = "https://ci.example/mcp";
const surface = defineSurface("ci", { count: mcpResource(cell({ schema: z.number() })) });
const verify = async () => ({ id: "ada", scopes: ["ci:read", "ci:write"], resource });

const opened: HttpHandler[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const handler of opened.splice(0)) await handler.close();
});

/** What a call was answered, as far as a test looks at it. */
interface Answered {
  readonly error?: { readonly code: number };
  readonly result?: {
    readonly isError?: boolean;
    readonly requestState?: string;
    readonly inputRequests?: object;
    readonly content?: readonly { readonly text: string }[];
    readonly structuredContent?: object;
  };
}

interface Sent {
  readonly capabilities?: object;
  readonly surface?: string;
  readonly requestState?: string | undefined;
  readonly inputResponses?: object;
}

interface Served {
  readonly runs: () => number;
  readonly call: (name: string, args?: object, more?: Sent) => Promise<Answered>;
  /** Repeats a call with consent to everything that it asks, until it has a result. */
  readonly agree: (name: string, args: object, more?: Sent) => Promise<Answered>;
}

function consentTo({ result }: Answered): Sent {
  const keys = Object.keys(result?.inputRequests ?? {});
  const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "accept", content: {} }]));
  return { requestState: result?.requestState, inputResponses };
}

/** Waits as a handler does whose work takes a while. */
const pause = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 5));

function serve(rateLimit?: HttpHandlerOptions["rateLimit"]): Served {
  let runs = 0;
  const run = (): { readonly runs: number } => ({ runs: (runs += 1) });
  const input = z.object({ id: z.string() });
  const app = mcp(surface)
    .implement({ count: cellSource(1) })
    .tools({
      change: { handler: run },
      erase: { confirm: true, handler: run },
      remove: { confirm: true, input: z.object({ n: z.number() }), handler: run },
      read: { mutates: false, input, handler: run },
      slow: { mutates: false, input, handler: async () => (await pause(), run()) },
      work: {
        mutates: false,
        handler: async (_args, { ask }) => {
          const ran = run();
          await ask.elicit("title", z.object({}), "Which title?");
          return ran;
        },
      },
    })
    .views({ hub: { face: "gateway" } });
  const handler = httpHandler(app, {
    auth: bearer({ resource, verify }),
    allowedHosts: ["ci.example"],
    ...(rateLimit === undefined ? {} : { rateLimit }),
  });
  opened.push(handler);
  const call: Served["call"] = async (name, args = {}, { capabilities = able, surface: view, ...more } = {}) => {
    const meta = { "io.modelcontextprotocol/clientCapabilities": capabilities };
    const { headers, ...init } = modernPost("tools/call", { name, arguments: args, _meta: meta, ...more });
    const sent = { ...init, headers: { ...Object.fromEntries(new Headers(headers)), authorization: "Bearer token" } };
    const response = await handler(new Request(view === undefined ? resource : `${resource}?surface=${view}`, sent));
    // What is sent is a JSON-RPC message.
    return (await response.json()) as Answered;
  };
  const agree: Served["agree"] = async (name, args, more) => {
    let answered = await call(name, args, more);
    for (let round = 0; round < 20 && answered.result?.requestState !== undefined; round += 1) {
      answered = await call(name, args, { ...more, ...consentTo(answered) });
    }
    return answered;
  };
  return { runs: () => runs, call, agree };
}

function isLimited({ result }: Answered): boolean {
  return result?.content?.[0]?.text.includes("RATE_LIMITED") === true;
}

/** More requests than the default limit of those that run nothing allows at once, which is 400 and 20 more a second. */
const many = 480;

/**
 * Repeats a request until it is limited, all at one time: a slow machine would ask no faster than the limit allows. Returns the number of
 * others before it, at most `max`.
 */
async function attemptsOf(attempt: () => Promise<Answered>, max = 1000): Promise<number> {
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  let count = 0;
  while (count < max && !isLimited(await attempt())) count += 1;
  clock.mockRestore();
  return count;
}

describe("the default rate limit", () => {
  it("allows 20 changes in a row by any tools, and logs the option with the first refusal", async () => {
    const warn = vi.spyOn(console, "error").mockImplementation(() => {});
    const { call, runs } = serve();
    for (let index = 0; index < 20; index += 1) expect(isLimited(await call("change"))).toBe(false);
    expect(isLimited(await call("change"))).toBe(true);
    expect(isLimited(await call("change"))).toBe(true);
    expect(isLimited(await call("erase"))).toBe(true);
    expect(runs()).toBe(20);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('"rateLimit" of http()')]]);
  });

  it("counts a retry with the user's answer as the same call", async () => {
    const { call, runs } = serve();
    for (let index = 0; index < 20; index += 1) {
      const retry = await call("erase", {}, consentTo(await call("erase")));
      expect(retry.result?.structuredContent).toEqual({ runs: index + 1 });
    }
    expect(runs()).toBe(20);
    vi.spyOn(console, "error").mockImplementation(() => {});
    expect(isLimited(await call("erase"))).toBe(true);
  });

  it("does not charge refused calls, but bounds their number", async () => {
    const { call, runs } = serve();
    for (let index = 0; index < 100; index += 1) {
      expect((await call("read", { id: 1 })).result?.content?.[0]?.text).toContain("VALIDATION_ERROR");
      expect((await call("erase", {}, { capabilities: {} })).error?.code).toBe(-32_021);
      expect((await call("unknown")).error?.code).toBe(-32_602);
    }
    expect(isLimited(await call("read", { id: "a" }))).toBe(false);
    expect(isLimited(await call("erase"))).toBe(false);
    expect(runs()).toBe(1);
    const asked = 302 + (await attemptsOf(() => call("unknown")));
    expect(asked).toBeGreaterThanOrEqual(400);
    expect(asked).toBeLessThan(1000);
  });
});

/** Returns the results of a batch. */
function resultsOf({ result }: Answered): readonly { readonly success: boolean; readonly error?: object }[] {
  const { results = [] } = (result?.structuredContent ?? {}) as { readonly results?: ReturnType<typeof resultsOf> };
  return results;
}

describe("an author's rate limit", () => {
  const read = (call: Served["call"]) => () => call("read", { id: "a" });

  it.each<[string, HttpHandlerOptions["rateLimit"]]>([
    ["limits that are wider than the one for requests that run nothing", { perMinute: 1_000_000, burst: 100_000 }],
    ["a limiter", { limit: () => ({ ok: true }) }],
    ["false", false],
  ])("alone decides how many calls run when it is %s", async (_what, rateLimit) => {
    const { call } = serve(rateLimit);
    expect(await attemptsOf(read(call), many)).toBe(many);
  });

  it("bounds requests that run nothing by ten times as much, at least by the default, and warns with the option", async () => {
    const warn = vi.spyOn(console, "error").mockImplementation(() => {});
    const strict = serve({ perMinute: 1, burst: 1 });
    const asked = await attemptsOf(() => strict.call("unknown"));
    expect(asked).toBeGreaterThanOrEqual(400);
    expect(asked).toBeLessThan(1000);
    // A machine that is busy gives the limit time to let a few through.
    expect(await attemptsOf(() => strict.call("unknown"))).toBeLessThan(400);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/run nothing.*"rateLimit" of http\(\)/)]]);
    const wide = serve({ perMinute: 100_000, burst: 100 });
    expect(await attemptsOf(() => wide.call("unknown"), many)).toBe(many);
    const off = serve(false);
    expect(await attemptsOf(() => off.call("unknown"), many)).toBe(many);
  });

  it("charges reads of operations through a gateway, and batches that run something", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const names = ["list", "search", "call"];
    const vain = { calls: [{ tool: "unknown", input: {} }] };
    for (const name of names) {
      const { call } = serve({ limit: () => ({ ok: true }) });
      const args = name === "call" ? vain : name === "search" ? { q: "read" } : {};
      expect(await attemptsOf(() => call(name, args, { surface: "hub" }))).toBeLessThan(1000);
    }
    const { call } = serve({ limit: () => ({ ok: true }) });
    const batch = { calls: [...vain.calls, { tool: "read", input: { id: "a" } }] };
    expect(await attemptsOf(() => call("call", batch, { surface: "hub" }), many)).toBe(many);
  });
});

describe("a retry", () => {
  it("is counted as another call when it answers nothing, also through a gateway", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const batch = { calls: [{ tool: "work", input: {} }] };
    for (const [name, args, view] of [
      ["work", {}, "default"],
      ["call", batch, "hub"],
    ] as const) {
      const { call, runs } = serve({ perMinute: 4, burst: 2 });
      let answered = await call(name, args, { surface: view });
      for (let round = 0; round < 20 && answered.result?.requestState !== undefined; round += 1) {
        const inputResponses = round % 2 === 0 ? {} : { title: "no answer", other: { action: "accept" } };
        answered = await call(name, args, {
          surface: view,
          requestState: answered.result.requestState,
          inputResponses,
        });
      }
      expect(JSON.stringify(answered)).toContain("RATE_LIMITED");
      expect(runs()).toBe(2);
    }
  });

  it("charges each call of a batch once when its user is asked", async () => {
    const { agree, runs } = serve({ perMinute: 12, burst: 32 });
    const calls = Array.from({ length: 8 }, (_, n) => ({ tool: "remove", input: { n } }));
    const answered = await agree("call", { parallel: true, calls }, { surface: "hub" });
    expect(resultsOf(answered).filter(({ success }) => success)).toHaveLength(8);
    expect(runs()).toBe(8);
  });

  it("runs the only call that the limit allows once its user has agreed, through a gateway", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { agree, call, runs } = serve({ perMinute: 4, burst: 1 });
    const batch = { calls: [{ tool: "remove", input: { n: 1 } }] };
    expect(resultsOf(await agree("call", batch, { surface: "hub" }))).toMatchObject([{ success: true }]);
    expect(resultsOf(await call("call", batch, { surface: "hub" }))).toMatchObject([
      { success: false, error: { code: "RATE_LIMITED" } },
    ]);
    expect(runs()).toBe(1);
  });

  it("counts nothing of a batch before its user has agreed, and then each call once", async () => {
    const costs: number[] = [];
    const limit = (_key: string, cost: number): LimitVerdict => (costs.push(cost), { ok: true });
    const { agree } = serve({ limit });
    const calls = [
      { tool: "read", input: { id: "a" } },
      { tool: "remove", input: { n: 1 } },
    ];
    const answered = await agree("call", { parallel: true, calls }, { surface: "hub" });
    expect(resultsOf(answered)).toMatchObject([{ success: true }, { success: true }]);
    expect(costs).toEqual([4, 1]);
  });

  it("counts each call once by a limiter that answers later, which all calls of a round wait for", async () => {
    let count = 0;
    const limit = async (): Promise<LimitVerdict> => {
      const mine = (count += 1);
      for (let index = 0; index < mine; index += 1) await pause();
      return { ok: true };
    };
    const { agree } = serve({ limit });
    const calls = Array.from({ length: 5 }, (_, n) => ({ tool: "remove", input: { n } }));
    const answered = await agree("call", { parallel: true, calls }, { surface: "hub" });
    expect(resultsOf(answered).filter(({ success }) => success)).toHaveLength(5);
    expect(count).toBe(5);
  });
});

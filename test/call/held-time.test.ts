import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClientPort } from "../../src/call/asker.ts";
import type { Asks } from "../../src/catalog/asking/asking.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { SurfaceError } from "../../src/errors.ts";
import { everyKind } from "./asking-support.ts";
import { ada, shortOf, toolsOf } from "./nesting-support.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A user who takes so long. */
function after(ms: number): ClientPort {
  return {
    kinds: everyKind,
    push: () => new Promise((resolve) => setTimeout(() => resolve({ action: "accept" }), ms)),
  };
}

const never: ClientPort = { kinds: everyKind, push: () => new Promise(() => {}) };

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const form = { type: "object", properties: {} };

/** A tool without a time of its own: 60 s, of which it uses one before it asks. */
function asking(afterwardsMs: number): AnyBespokeTool {
  return {
    handler: async (_args, { ask }) => {
      await sleep(1000);
      await ask.elicit("ok", form, "Ok?");
      await sleep(afterwardsMs);
      return "done";
    },
  };
}

describe("the default time of a call", () => {
  it("is paused while its client is asked, and continues with the rest", async () => {
    const tools = toolsOf({ short: asking(58_000), long: asking(60_000) });
    const short = tools.call("short", {}, { asking: after(100_000) });
    const long = tools.call("long", {}, { asking: after(100_000) });
    await vi.advanceTimersByTimeAsync(161_000);
    expect(shortOf(await short)).toEqual({ value: "done" });
    expect(await long).toMatchObject({ code: "TIMEOUT", message: expect.stringMatching(/^the deadline passed,/) });
  });

  it("says when it was due, with the time that it stood still", async () => {
    const tools = toolsOf({ long: asking(100_000) });
    const begun = Date.now();
    const long = tools.call("long", {}, { asking: after(10_000) });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await long).toMatchObject({ code: "TIMEOUT", details: { deadline: begun + 70_000 } });
    expect(tools.tree.roots()[0]?.deadline).toBe(begun + 70_000);
  });

  it("is paused for the calls above, and for no other part of them", async () => {
    const other = vi.fn<(code: string) => void>();
    const tools = toolsOf({
      asks: asking(0),
      slow: { mutates: false, handler: () => sleep(500_000) },
      host: {
        canCall: ["asks", "slow"],
        handler: async (_args, { call }) => {
          const slow = call("slow").catch((cause: { code: string }) => other(cause.code));
          const said = await call("asks");
          await slow;
          return said;
        },
      },
    });
    const host = tools.call("host", {}, { asking: after(90_000) });
    await vi.advanceTimersByTimeAsync(60_500);
    expect(other).toHaveBeenCalledWith("TIMEOUT");
    await vi.advanceTimersByTimeAsync(35_000);
    expect(shortOf(await host)).toEqual({ value: "done" });
  });

  it("stands still until the last of several questions has an answer", async () => {
    let count = 0;
    const port: ClientPort = {
      kinds: everyKind,
      push: () => new Promise((resolve) => setTimeout(() => resolve({ action: "accept" }), (count += 1) * 100_000)),
    };
    const tools = toolsOf({
      both: { handler: (_args, { ask }) => Promise.all([ask.elicit("a", form, "A?"), ask.elicit("b", form, "B?")]) },
    });
    const both = tools.call("both", {}, { asking: port });
    await vi.advanceTimersByTimeAsync(200_000);
    expect((await both).kind).toBe("answer");
  });

  it("is a part's own when that begins while the call above it stands still", async () => {
    const tools = toolsOf({
      slow: { handler: () => sleep(500_000) },
      host: {
        canCall: ["slow"],
        handler: async (_args, { ask, call }) => {
          const asked = ask.elicit("ok", form, "Ok?");
          await sleep(70_000);
          const code = await call("slow").catch((cause: { code: string }) => cause.code);
          await asked;
          return code;
        },
      },
    });
    const host = tools.call("host", {}, { asking: after(200_000) });
    await vi.advanceTimersByTimeAsync(200_500);
    expect(shortOf(await host)).toEqual({ value: "TIMEOUT" });
  });

  it("has no timer when its call ended during a question", async () => {
    const tools = toolsOf({ asks: asking(0), own: { ...asking(0), timeoutMs: 90_000 } });
    for (const id of ["asks", "own"]) {
      const { call, outcome } = tools.start(id, { asking: never });
      await vi.advanceTimersByTimeAsync(1500);
      call.cancel();
      expect(shortOf(await outcome)).toBe("ABORTED");
    }
    tools.invoker.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

/** A client that never answers, and notes when its questions are taken back. */
function silent() {
  const begun = Date.now();
  const takenBack: number[] = [];
  const push: ClientPort["push"] = (_ask, signal) =>
    new Promise(() => signal.addEventListener("abort", () => takenBack.push(Date.now() - begun)));
  return { takenBack, port: { kinds: everyKind, push } satisfies ClientPort };
}

describe("the time of a tool that sets timeoutMs", () => {
  const elicits: AnyBespokeTool["handler"] = (_args, { ask }) => ask.elicit("ok", form, "Ok?");
  const caught: AnyBespokeTool["handler"] = (_args, { call }) =>
    call("asks").catch(({ code, message }: { code: string; message: string }) => ({ code, message }));
  const cases: readonly (readonly [string, Readonly<Record<string, AnyBespokeTool>>])[] = [
    ["its handler asks", { host: { timeoutMs: 200, handler: elicits } }],
    ["its user is to confirm", { host: { timeoutMs: 200, confirm: true, handler: () => "done" } }],
    ["its handler asks for roots", { host: { timeoutMs: 200, handler: (_args, { ask }) => ask.roots() } }],
    [
      "what it calls asks",
      { host: { timeoutMs: 200, canCall: ["asks"], handler: caught }, asks: { handler: elicits } },
    ],
    [
      "what it calls asks, and has more time of its own",
      { host: { timeoutMs: 200, canCall: ["asks"], handler: caught }, asks: { timeoutMs: 600_000, handler: elicits } },
    ],
    [
      "what that calls is to be confirmed",
      {
        host: { timeoutMs: 200, canCall: ["mid"], handler: (_args, { call }) => call("mid") },
        mid: { canCall: ["asks"], handler: caught },
        asks: { confirm: true, handler: () => "done" },
      },
    ],
    [
      "what goes on without it asks",
      {
        host: {
          timeoutMs: 200,
          canCall: ["asks"],
          handler: (_args, { call }) => call("asks", {}, { onAbort: "continue-running" }),
        },
        asks: { handler: elicits },
      },
    ],
  ];

  it.each(cases)("runs out when %s, and the question is taken back", async (_when, tools) => {
    const { takenBack, port } = silent();
    const opened = toolsOf(tools);
    const begun = Date.now();
    const outcome = opened.call("host", {}, { asking: port });
    await vi.advanceTimersByTimeAsync(199);
    expect(takenBack).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringMatching(/^the deadline passed: the client had not answered .* after 200 ms/),
      details: { deadline: begun + 200 },
    });
    expect(takenBack).toEqual([200]);
    expect(opened.tree.roots()[0]?.deadline).toBe(begun + 200);
    opened.invoker.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is separate for a part, and the call above receives the time that it waited", async () => {
    const tools = toolsOf({
      host: { canCall: ["asks"], handler: caught },
      through: { canCall: ["asks"], mutates: false, handler: (_args, { call }) => call("asks") },
      asks: { timeoutMs: 200, mutates: false, handler: elicits },
    });
    const outcomes = ["host", "through"].map((id) => tools.call(id, {}, { asking: silent().port }));
    await vi.advanceTimersByTimeAsync(200);
    const message = 'the deadline passed: the client had not answered the form "ok" after 200 ms';
    expect(shortOf(await (outcomes[0] ?? Promise.reject(new Error("no outcome"))))).toEqual({
      code: "TIMEOUT",
      message,
    });
    expect(await outcomes[1]).toMatchObject({ code: "TIMEOUT", message });
  });

  it("is bounded by the timeoutMs that a nested call is made with, questions included", async () => {
    const tools = toolsOf({
      host: {
        canCall: ["asks"],
        handler: (_args, { call }) => call("asks", {}, { timeoutMs: 300 }).catch(({ code }: { code: string }) => code),
      },
      asks: { handler: elicits },
    });
    const outcome = tools.call("host", {}, { asking: silent().port });
    await vi.advanceTimersByTimeAsync(300);
    expect(shortOf(await outcome)).toEqual({ value: "TIMEOUT" });
  });

  it.each([2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY, Number.NaN])(
    "is as long as the default time of the call above when a nested call is made with %d",
    async (timeoutMs) => {
      const tools = toolsOf({
        host: { canCall: ["asks"], handler: (_args, { call }) => call("asks", {}, { timeoutMs }) },
        asks: asking(10_000),
      });
      const outcome = tools.call("host", {}, { asking: after(200_000) });
      await vi.advanceTimersByTimeAsync(211_000);
      expect(shortOf(await outcome)).toEqual({ value: "done" });
      tools.invoker.close();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it("ends at once, without another question, when its app closes its sessions meanwhile", async () => {
    const reject: ((cause: Error) => void)[] = [];
    const push: ClientPort["push"] = () => new Promise((_, fail) => void reject.push(fail));
    const tools = toolsOf({ asks: { timeoutMs: 90_000, handler: elicits }, plain: { handler: elicits } });
    const outcomes = ["asks", "plain"].map((id) => tools.call(id, {}, { asking: { kinds: everyKind, push } }));
    await vi.advanceTimersByTimeAsync(10);
    for (const fail of reject) fail(new SurfaceError("DISCONNECTED", "the session is over"));
    expect((await Promise.all(outcomes)).map(shortOf)).toEqual(["DISCONNECTED", "DISCONNECTED"]);
    tools.invoker.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("pauses the default time of the call above until it runs out itself", async () => {
    const tools = toolsOf({
      host: {
        canCall: ["asks"],
        handler: async (_args, { call }) => {
          await sleep(59_000);
          const code = await call("asks").catch((cause: { code: string }) => cause.code);
          await sleep(900);
          return code;
        },
      },
      asks: { timeoutMs: 90_000, handler: elicits },
    });
    const outcome = tools.call("host", {}, { asking: silent().port });
    await vi.advanceTimersByTimeAsync(149_900);
    expect(shortOf(await outcome)).toEqual({ value: "TIMEOUT" });
  });

  it("is not put off when a part with more time than the call above is answered", async () => {
    const tools = toolsOf({
      host: {
        canCall: ["asks"],
        handler: (_args, { call }) => call("asks").catch(({ code }: { code: string }) => [code, performance.now()]),
      },
      asks: { ...asking(15_000), timeoutMs: 80_000 },
    });
    const begun = performance.now();
    const outcome = tools.call("host", {}, { asking: after(70_000) });
    await vi.advanceTimersByTimeAsync(100_000);
    expect(shortOf(await outcome)).toEqual({ value: ["TIMEOUT", begun + 80_000] });
  });

  it("leaves a part only the rest of it after an answer", async () => {
    const tools = toolsOf({
      host: { timeoutMs: 100_000, canCall: ["asks"], handler: (_args, { call }) => call("asks") },
      asks: asking(59_500),
    });
    const outcome = tools.call("host", {}, { asking: after(50_000) });
    const begun = Date.now();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(await outcome).toMatchObject({ code: "TIMEOUT", details: { deadline: begun + 100_000 } });
  });
});

describe("the time that a client has to answer", () => {
  type Ask = (ask: Asks) => Promise<unknown>;
  const sample = { messages: [{ role: "user", content: "x" }], maxTokens: 1 } as const;
  const cases: readonly {
    readonly what: string;
    readonly ask: Ask;
    readonly timeoutMs: number;
    readonly words: string;
  }[] = [
    { what: "a form", ask: (ask) => ask.elicit("a", form, "A?"), timeoutMs: 300_000, words: 'the form "a"' },
    { what: "a sample", ask: (ask) => ask.sample("b", sample), timeoutMs: 60_000, words: 'the model request "b"' },
    { what: "roots", ask: (ask) => ask.roots(), timeoutMs: 10_000, words: "the request for roots" },
    {
      what: "a form with its own",
      ask: (ask) => ask.elicit("a", form, { message: "A?", timeoutMs: 50 }),
      timeoutMs: 50,
      words: 'the form "a"',
    },
    {
      what: "a sample with its own",
      ask: (ask) => ask.sample("b", { ...sample, timeoutMs: 25 }),
      timeoutMs: 25,
      words: 'the model request "b"',
    },
    {
      what: "roots with their own",
      ask: (ask) => ask.roots({ timeoutMs: 3_600_000 }),
      timeoutMs: 3_600_000,
      words: "the request for roots",
    },
  ];

  it.each(cases)("is bounded for $what, and it is taken back", async ({ ask, timeoutMs, words }) => {
    const { takenBack, port } = silent();
    const tools = toolsOf({ asks: { handler: (_args, context) => ask(context.ask) } });
    const outcome = tools.call("asks", {}, { asking: port });
    await vi.advanceTimersByTimeAsync(timeoutMs - 1);
    expect(takenBack).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toMatchObject({
      code: "ASK_TIMEOUT",
      message: `the client did not answer ${words} within ${timeoutMs} ms`,
      details: { timeoutMs },
    });
    expect(takenBack).toEqual([timeoutMs]);
    tools.invoker.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is an app's own where that says so, and a question's own before that", async () => {
    const timeouts = { elicit: 20, roots: 3_600_000 };
    const tools = toolsOf(
      {
        asks: {
          handler: async (_args, { ask }) => {
            const asked = [
              ask.elicit("a", form, "A?"),
              ask.elicit("b", form, { message: "B?", timeoutMs: 40 }),
              ask.sample("c", sample),
              ask.roots(),
            ];
            const settled = await Promise.allSettled(asked);
            return settled.map((one) => one.status === "rejected" && Reflect.get(Object(one.reason), "details"));
          },
        },
        confirmed: { confirm: true, handler: () => "done" },
      },
      {},
      { askTimeouts: timeouts },
    );
    const confirmed = tools.call("confirmed", {}, { asking: silent().port });
    await vi.advanceTimersByTimeAsync(20);
    expect(await confirmed).toMatchObject({
      code: "ASK_TIMEOUT",
      message: "the client did not answer the confirmation within 20 ms",
    });
    const outcome = tools.call("asks", {}, { asking: silent().port });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(shortOf(await outcome)).toEqual({
      value: [20, 40, 60_000, 3_600_000].map((timeoutMs) => ({ timeoutMs })),
    });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 3_600_001, 2 ** 31, 2 ** 53, "50", null])(
    "is a fault of the author when it is %s, and no question is sent",
    async (wrong) => {
      const push = vi.fn<NonNullable<ClientPort["push"]>>();
      // What an honest author's types would not let through.
      const timeoutMs = wrong as number;
      const asks: readonly Ask[] = [
        (ask) => ask.elicit("a", form, { message: "A?", timeoutMs }),
        (ask) => ask.sample("b", { ...sample, timeoutMs }),
        (ask) => ask.roots({ timeoutMs }),
      ];
      for (const ask of asks) {
        const tools = toolsOf({ asks: { handler: (_args, context) => ask(context.ask) } });
        expect(shortOf(await tools.call("asks", {}, { asking: { kinds: everyKind, push } }))).toBe("INTERNAL");
        expect(tools.faults[0]?.cause).toMatchObject({
          code: "INVALID_OPTION",
          message: expect.stringContaining('"timeoutMs" must be'),
        });
      }
      expect(push).not.toHaveBeenCalled();
    },
  );

  it("gives the handler either the answer or the timeout when both come in one tick", async () => {
    for (const order of ["answer first", "timeout first"]) {
      let answer = (_with: JsonObject): void => {};
      const push: ClientPort["push"] = () => new Promise((resolve) => (answer = resolve));
      const tools = toolsOf({
        asks: {
          handler: (_args, { ask }) => ask.elicit("a", form, { message: "A?", timeoutMs: 50 }),
        },
      });
      if (order === "answer first") setTimeout(() => answer({ action: "decline" }), 50);
      const outcome = tools.call("asks", {}, { asking: { kinds: everyKind, push } });
      if (order === "timeout first") setTimeout(() => answer({ action: "decline" }), 50);
      await vi.advanceTimersByTimeAsync(50);
      expect(shortOf(await outcome)).toEqual(order === "answer first" ? { action: "decline" } : "ASK_TIMEOUT");
      tools.invoker.close();
      expect(vi.getTimerCount()).toBe(0);
    }
  });
});

describe("a nested call that waits until another part has asked its user", () => {
  it("ends at its deadline, and does not run", async () => {
    const ran = vi.fn<() => string>(() => "changed");
    const rejected: unknown[] = [];
    const tools = toolsOf({
      slow: { confirm: async () => (await sleep(2000), "Sure?"), handler: () => "confirmed" },
      change: { timeoutMs: 200, handler: ran },
      host: {
        canCall: ["*"],
        callScopes: ada.scopes,
        handler: async (_args, { call }) => {
          const slow = call("slow");
          const changed = call("change").catch((error: unknown) => void rejected.push(error));
          await Promise.allSettled([slow, changed]);
        },
      },
    });
    const outcome = tools.call("host", {}, { asking: { kinds: everyKind } });
    await vi.advanceTimersByTimeAsync(300);
    expect(rejected).toMatchObject([{ code: "TIMEOUT" }]);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await outcome).toMatchObject({ kind: "asking" });
    expect(ran).not.toHaveBeenCalled();
  });
});

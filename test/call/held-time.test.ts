import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AskPort } from "../../src/call/ask-port.ts";
import type { AnyBespokeTool } from "../../src/catalog/bespoke-tool.ts";
import { everyKind } from "./asking-support.ts";
import { shortOf, toolsOf } from "./nesting-support.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A user who takes so long. */
function after(ms: number): AskPort {
  return {
    kinds: everyKind,
    push: () => new Promise((resolve) => setTimeout(() => resolve({ action: "accept" }), ms)),
  };
}

const never: AskPort = { kinds: everyKind, push: () => new Promise(() => {}) };

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const form = { type: "object", properties: {} };

function asking(afterwardsMs: number, timeoutMs = 1000): AnyBespokeTool {
  return {
    timeoutMs,
    handler: async (_args, { ask }) => {
      await sleep(400);
      await ask.elicit("ok", form, "Ok?");
      await sleep(afterwardsMs);
      return "done";
    },
  };
}

describe("the time of a call", () => {
  it("stands still while its client is asked, and goes on with what was left", async () => {
    const tools = toolsOf({ short: asking(550), long: asking(650) });
    const short = tools.call("short", {}, { asking: after(100_000) });
    const long = tools.call("long", {}, { asking: after(100_000) });
    await vi.advanceTimersByTimeAsync(101_500);
    expect(shortOf(await short)).toEqual({ value: "done" });
    expect(await long).toMatchObject({ code: "TIMEOUT" });
  });

  it("says when it was due, with the time that it stood still", async () => {
    const tools = toolsOf({ long: asking(5000) });
    const begun = Date.now();
    const long = tools.call("long", {}, { asking: after(10_000) });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await long).toMatchObject({ code: "TIMEOUT", details: { deadline: begun + 11_000 } });
    expect(tools.tree.roots()[0]?.deadline).toBe(begun + 11_000);
  });

  it("stands still for those that it is within, and for no other part of them", async () => {
    const other = vi.fn<(code: string) => void>();
    const tools = toolsOf({
      asks: asking(0),
      slow: { timeoutMs: 100_000, handler: () => sleep(50_000) },
      host: {
        timeoutMs: 1000,
        reach: ["asks", "slow"],
        handler: async (_args, { call }) => {
          const slow = call("slow").catch((cause: { code: string }) => other(cause.code));
          const said = await call("asks");
          await slow;
          return said;
        },
      },
    });
    const host = tools.call("host", {}, { asking: after(30_000) });
    await vi.advanceTimersByTimeAsync(1500);
    expect(other).toHaveBeenCalledWith("TIMEOUT");
    await vi.advanceTimersByTimeAsync(30_000);
    expect(shortOf(await host)).toEqual({ value: "done" });
  });

  it("stands still until the last of several questions has an answer", async () => {
    let count = 0;
    const port: AskPort = {
      kinds: everyKind,
      push: () => new Promise((resolve) => setTimeout(() => resolve({ action: "accept" }), (count += 1) * 10_000)),
    };
    const tools = toolsOf({
      both: {
        timeoutMs: 100,
        handler: (_args, { ask }) => Promise.all([ask.elicit("a", form, "A?"), ask.elicit("b", form, "B?")]),
      },
    });
    const both = tools.call("both", {}, { asking: port });
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await both).kind).toBe("answer");
  });

  it("is a part's own when that begins while the call above it stands still", async () => {
    const tools = toolsOf({
      slow: { timeoutMs: 300, handler: () => sleep(50_000) },
      host: {
        timeoutMs: 1000,
        reach: ["slow"],
        handler: async (_args, { ask, call }) => {
          const asked = ask.elicit("ok", form, "Ok?");
          await sleep(5000);
          const code = await call("slow").catch((cause: { code: string }) => cause.code);
          await asked;
          return code;
        },
      },
    });
    const host = tools.call("host", {}, { asking: after(20_000) });
    await vi.advanceTimersByTimeAsync(20_500);
    expect(shortOf(await host)).toEqual({ value: "TIMEOUT" });
  });

  it("holds no timer when a call has ended while its client was asked", async () => {
    const tools = toolsOf({ asks: asking(0) });
    const { call, outcome } = tools.start("asks", { asking: never });
    await vi.advanceTimersByTimeAsync(500);
    call.cancel();
    expect(shortOf(await outcome)).toBe("ABORTED");
    tools.invoker.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

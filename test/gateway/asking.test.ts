import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import { createInvoker } from "../../src/call/create-invoker.ts";
import type { AskPort } from "../../src/call/ask-port.ts";
import type { ClientAsk } from "../../src/catalog/asking.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { everyKind, pushing } from "../call/asking-support.ts";
import { shortOf } from "../call/nesting-support.ts";
import { GatewayBench, operation } from "./support.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** A gateway over tools, whose `call` is called as a host does. */
function gatewayOver(entries: readonly ToolEntry[]) {
  const bench = GatewayBench.over(entries);
  const invoker = createInvoker({ report: () => {}, confirm: "refuse" });
  const run = (args: JsonObject, asking: AskPort) =>
    invoker.call(bench.tool("call"), args, new CallContext({ asking }));
  return { run, close: () => invoker.close() };
}

/** An operation that says what it was given, and how often it ran. */
function counted(id: string, more: Partial<ToolEntry> = {}) {
  const run = vi.fn<ToolEntry["run"]>((input) => input);
  return { run, entry: operation(id, { run, ...more }) };
}

describe("the call of a gateway", () => {
  /** Calls in rounds, and gives consent to all that is asked. */
  async function consenting(run: ReturnType<typeof gatewayOver>["run"], args: JsonObject) {
    const rounds: unknown[] = [];
    let resumed: AskPort["resumed"];
    for (;;) {
      const outcome = await run(args, { kinds: everyKind, resumed });
      if (outcome.kind !== "asking") return { outcome, rounds };
      const { open, record } = outcome;
      rounds.push(Object.values(open).map(({ params }) => params["message"]));
      resumed = { record, answers: Object.fromEntries(Object.keys(open).map((key) => [key, { action: "accept" }])) };
    }
  }

  it("asks in one round about all that run at once and are to be confirmed, and runs each once", async () => {
    const slowText = (): Promise<string> => new Promise((resolve) => setImmediate(() => resolve("Sure?")));
    const all = [
      counted("a.first"),
      counted("a.second", { confirm: "never" }),
      counted("a.third", { confirmText: slowText }),
    ];
    const { run, close } = gatewayOver(all.map(({ entry }) => entry));
    const calls = ["a.first", "a.third", "a.second"].map((tool) => ({ tool, input: { tool } }));
    const { outcome, rounds } = await consenting(run, { calls, parallel: true });
    expect(rounds).toEqual([[expect.stringContaining("a_first"), expect.stringMatching(/^Sure\?[^]*a_third/)]]);
    expect(shortOf(outcome)).toMatchObject({ results: [{ success: true }, { success: true }, { success: true }] });
    expect(all.map((one) => one.run.mock.calls.length)).toEqual([1, 1, 1]);
    close();
  });

  it.each(["rounds", "a session"])("refuses what is to be confirmed after a change, asked in %s", async (era) => {
    const all = [counted("a.first"), counted("a.second"), counted("a.third", { confirm: "never" })];
    const { run, close } = gatewayOver(all.map(({ entry }) => entry));
    const args = { calls: ["a.first", "a.second", "a.third"].map((tool) => ({ tool })) };
    const seen: ClientAsk[] = [];
    const outcome =
      era === "rounds"
        ? (await consenting(run, args)).outcome
        : await run(
            args,
            pushing(() => ({ action: "accept" }), seen),
          );
    expect(shortOf(outcome)).toMatchObject({
      results: [{ success: true }, { success: false, error: { code: "ASK_AFTER_CHANGE" } }, { success: true }],
    });
    expect(all.map((one) => one.run.mock.calls.length)).toEqual([1, 0, 1]);
    close();
  });

  it("says of one that its user declined, and runs the others", async () => {
    const asked = counted("a.asked");
    const free = counted("a.free", { confirm: "never" });
    const { run, close } = gatewayOver([asked.entry, free.entry]);
    const seen: ClientAsk[] = [];
    const outcome = await run(
      { calls: [{ tool: "a.asked" }, { tool: "a.free" }] },
      pushing(() => ({ action: "decline" }), seen),
    );
    expect(shortOf(outcome)).toMatchObject({
      results: [{ success: false, error: { code: "DECLINED" } }, { success: true }],
    });
    expect(seen).toHaveLength(1);
    expect(asked.run).not.toHaveBeenCalled();
    close();
  });

  it("is answered at once for one whose tool sets a time, and runs the others", async () => {
    const hurried = counted("a.hurried", { timeoutMs: 200, countsQuestions: true });
    const { run, close } = gatewayOver([hurried.entry, counted("a.free", { confirm: "never" }).entry]);
    const push = (): Promise<JsonObject> => new Promise(() => {});
    const outcome = run({ calls: [{ tool: "a.hurried" }, { tool: "a.free" }] }, { kinds: everyKind, push });
    await vi.advanceTimersByTimeAsync(200);
    const message = "the deadline passed: the client had not answered the confirmation after 200 ms";
    expect(shortOf(await outcome)).toMatchObject({
      results: [{ success: false, error: { code: "TIMEOUT", message } }, { success: true }],
    });
    expect(hurried.run).not.toHaveBeenCalled();
    close();
  });

  it("has its whole time left for the others when a user takes longer than that", async () => {
    const { run, close } = gatewayOver([counted("a.asked").entry, counted("a.free", { confirm: "never" }).entry]);
    const push = (): Promise<JsonObject> =>
      new Promise((resolve) => setTimeout(() => resolve({ action: "accept" }), 200_000));
    const outcome = run({ calls: [{ tool: "a.asked" }, { tool: "a.free" }] }, { kinds: everyKind, push });
    await vi.advanceTimersByTimeAsync(200_000);
    expect(shortOf(await outcome)).toMatchObject({ results: [{ success: true }, { success: true }] });
    close();
  });
});

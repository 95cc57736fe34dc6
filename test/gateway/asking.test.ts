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
  it("asks about each operation that is to be confirmed, and runs those that were run before no more", async () => {
    const first = counted("a.first");
    const second = counted("a.second", { confirm: "never" });
    const third = counted("a.third");
    const { run, close } = gatewayOver([first.entry, second.entry, third.entry]);
    const args = { calls: ["a.second", "a.first", "a.third"].map((tool) => ({ tool, input: { tool } })) };
    const asked: string[] = [];
    let resumed: AskPort["resumed"];
    let outcome = await run(args, { kinds: everyKind });
    while (outcome.kind === "asking") {
      const { open, record } = outcome;
      const keys = Object.keys(open);
      asked.push(...Object.values(open).map(({ params }) => JSON.stringify(params["message"])));
      resumed = { record, answers: Object.fromEntries(keys.map((key) => [key, { action: "accept" }])) };
      outcome = await run(args, { kinds: everyKind, resumed });
    }
    expect(asked).toEqual([expect.stringContaining("a_first"), expect.stringContaining("a_third")]);
    expect(shortOf(outcome)).toMatchObject({ results: [{ success: true }, { success: true }, { success: true }] });
    expect([first, second, third].map((one) => one.run.mock.calls.length)).toEqual([1, 1, 1]);
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

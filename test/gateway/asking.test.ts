import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Approvals } from "../../src/call/approvals.ts";
import { CallContext } from "../../src/call/call-context.ts";
import { createInvoker } from "../../src/call/create-invoker.ts";
import type { ClientPort } from "../../src/call/asker.ts";
import type { InputRequest } from "../../src/catalog/asking/asking.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { toToolHints } from "../../src/catalog/tool-head.ts";
import { batchMs } from "../../src/gateway/run-batch.ts";
import { everyKind, pushing } from "../call/asking-support.ts";
import { shortOf } from "../call/nesting-support.ts";
import { catalogOf, GatewayBench, operation } from "./support.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** A gateway over tools, whose `call` is called as a host does. */
function gatewayOver(entries: readonly ToolEntry[], approvals = new Approvals()) {
  const bench = GatewayBench.over(entries);
  const invoker = createInvoker({ report: () => {}, confirm: "refuse", approvals });
  const run = (args: JsonObject, asking: ClientPort) =>
    invoker.call(bench.tool("call"), args, new CallContext({ asking }));
  return { run, close: () => invoker.close() };
}

/** An operation that says what it was given, and how often it ran. */
function counted(id: string, more: Partial<ToolEntry> = {}) {
  const run = vi.fn<ToolEntry["run"]>((input) => input);
  return { run, entry: operation(id, { run, ...more }) };
}

describe("the call of a gateway", () => {
  it("waits for a decision about each call of a batch before any runs, if its client shows no forms", async () => {
    const approvals = new Approvals();
    approvals.open({ changed: () => {} });
    const all = [counted("a.first"), counted("a.second"), counted("a.third")];
    const { run, close } = gatewayOver(
      all.map(({ entry }) => entry),
      approvals,
    );
    const calls = all.map(({ entry: { id } }) => ({ tool: id, input: {} }));
    const called = run({ calls }, { kinds: new Set(["sample"]) });
    while (approvals.waiting().length < 3) await new Promise((resolve) => setImmediate(resolve));
    const waiting = approvals.waiting();
    expect(waiting.map(({ tool }) => tool)).toEqual(["a_first", "a_second", "a_third"]);
    for (const { id, tool } of waiting) {
      expect(all.flatMap((one) => one.run.mock.calls)).toEqual([]);
      approvals.decide(id, { agree: tool !== "a_second" });
    }
    expect(shortOf(await called)).toMatchObject({
      results: [{ success: true }, { success: false }, { success: true }],
    });
    expect(all.map((one) => one.run.mock.calls.length)).toEqual([1, 0, 1]);
    close();
  });

  /** Calls in rounds, and gives consent to all that is asked. */
  async function consenting(run: ReturnType<typeof gatewayOver>["run"], args: JsonObject) {
    const rounds: unknown[] = [];
    let resumed: ClientPort["resumed"];
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

  /** Calls with consent to every question, in each protocol version. Returns the outcome and how often the client was asked. */
  async function agree(run: ReturnType<typeof gatewayOver>["run"], args: JsonObject, era: string) {
    if (era === "rounds") {
      const { outcome, rounds } = await consenting(run, args);
      return { outcome, asked: rounds.flat().length, rounds: rounds.length };
    }
    const seen: InputRequest[] = [];
    const asking = pushing(() => ({ action: "accept" }), seen);
    return { outcome: await run(args, asking), asked: seen.length, rounds: 0 };
  }

  describe.each(["rounds", "a session"])("with a client that is asked in %s", (era) => {
    it("asks for all confirmations first, then runs the operations once each and in order", async () => {
      const ran: string[] = [];
      const ids = ["a.free", "a.first", "a.second", "a.second", "a.reads", "a.third"];
      const options: Readonly<Record<string, Partial<ToolEntry>>> = {
        "a.free": { confirm: "never" },
        "a.reads": { hints: toToolHints("read", {}) },
      };
      const run: (id: string) => ToolEntry["run"] = (id) => async () => {
        await new Promise((resolve) => setImmediate(resolve));
        ran.push(id);
        return {};
      };
      const entries = [...new Set(ids)].map((id) => operation(id, { run: run(id), ...options[id] }));
      const bench = gatewayOver(entries);
      const { outcome, asked, rounds } = await agree(bench.run, { calls: ids.map((tool) => ({ tool })) }, era);
      expect(shortOf(outcome)).toEqual({ results: ids.map(() => ({ success: true, result: {} })) });
      expect(ran).toEqual(ids);
      expect([asked, rounds]).toEqual([4, era === "rounds" ? 1 : 0]);
      bench.close();
    });

    it.each([false, true])("asks for more confirmations than it runs calls at once, parallel: %s", async (parallel) => {
      const all = Array.from({ length: 20 }, (_, index) => counted(`a.n${index}`));
      const { run, close } = gatewayOver(all.map(({ entry }) => entry));
      const { outcome, asked } = await agree(
        run,
        { calls: all.map(({ entry: { id } }) => ({ tool: id })), parallel },
        era,
      );
      expect(shortOf(outcome)).toEqual({ results: all.map(() => ({ success: true, result: {} })) });
      expect(all.map((one) => one.run.mock.calls.length)).toEqual(all.map(() => 1));
      expect(asked).toBe(20);
      close();
    });
  });

  it("gives a confirmed operation its whole time from its turn on", async () => {
    const slow = (): Promise<JsonObject> => new Promise((resolve) => setTimeout(() => resolve({}), 900));
    const all = ["a.first", "a.second", "a.third"].map((id) => counted(id));
    for (const { run } of all) run.mockImplementation(slow);
    const { run, close } = gatewayOver(all.map(({ entry }) => entry));
    const calls = all.map(({ entry: { id } }) => ({ tool: id }));
    const outcome = run(
      { calls },
      pushing(() => ({ action: "accept" })),
    );
    await vi.advanceTimersByTimeAsync(3000);
    expect(shortOf(await outcome)).toEqual({ results: all.map(() => ({ success: true, result: {} })) });
    close();
  });

  it("does not run a confirmed operation that an earlier one replaced or took away", async () => {
    const [gone, replaced, other] = [counted("a.gone"), counted("a.replaced"), counted("a.replaced")];
    let isChanged = false;
    const change = operation("a.change", { run: () => ((isChanged = true), {}), confirm: "never" });
    const before = { ...replaced.entry, now: () => (isChanged ? other.entry : before) };
    const first = catalogOf([change, gone.entry, before]);
    const then = catalogOf([change, other.entry]);
    const bench = new GatewayBench({ catalog: () => (isChanged ? then : first), isGranted: () => true });
    const invoker = createInvoker({ report: () => {}, confirm: "refuse" });
    const asking = pushing(() => ({ action: "accept" }));
    const calls = ["a.change", "a.gone", "a.replaced"].map((tool) => ({ tool }));
    const outcome = await invoker.call(bench.tool("call"), { calls }, new CallContext({ asking }));
    const refused = { success: false, error: { code: "OPERATION_NOT_FOUND" } };
    expect(shortOf(outcome)).toMatchObject({ results: [{ success: true }, refused, refused] });
    for (const { run } of [gone, replaced, other]) expect(run).not.toHaveBeenCalled();
    invoker.close();
  });

  it("says of a confirmed operation that the batch was too late for it", async () => {
    const slow = counted("a.slow", { timeoutMs: 100_000 });
    slow.run.mockImplementation(() => new Promise(() => {}));
    const next = counted("a.next");
    const { run, close } = gatewayOver([slow.entry, next.entry]);
    const calls = [{ tool: "a.slow" }, { tool: "a.next" }];
    const outcome = run(
      { calls },
      pushing(() => ({ action: "accept" })),
    );
    await vi.advanceTimersByTimeAsync(batchMs + 1000);
    const message = "the deadline of the batch passed before this call started";
    expect(shortOf(await outcome)).toMatchObject({
      results: [
        { success: false, error: { code: "TIMEOUT" } },
        { success: false, error: { code: "TIMEOUT", message } },
      ],
    });
    expect(next.run).not.toHaveBeenCalled();
    close();
  });

  it("says of one that its user declined, and runs the others", async () => {
    const asked = counted("a.asked");
    const free = counted("a.free", { confirm: "never" });
    const { run, close } = gatewayOver([asked.entry, free.entry]);
    const seen: InputRequest[] = [];
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

import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { AskKind } from "../../src/catalog/asking/asking.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import { SurfaceError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { until } from "../surface/support.ts";
import { agreeing, ignore, openNesting, openRemoving } from "./approvals-support.ts";
import { ada, openTools, shortOf } from "./nesting-support.ts";

describe("bounds of approvals", () => {
  const many = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

  it("refuse the 17th of one caller, and take another's", async () => {
    const { approvals, remove, waiting, decide } = openRemoving();
    approvals.open(ignore);
    const called = many(16).map(() => remove("a"));
    await waiting(16);
    expect(shortOf(await remove("b"))).toBe("CLIENT_CANNOT");
    const other = remove("c", { caller: { ...ada, id: "ben" } });
    expect((await waiting(17)).at(-1)).toMatchObject({ caller: "ben" });
    // A decision makes room.
    decide(approvals.waiting()[0], false);
    const next = remove("d");
    await waiting(17);
    for (const one of approvals.waiting()) decide(one, true);
    const outcomes = (await Promise.all([...called, other, next])).map(shortOf);
    expect(outcomes.filter((outcome) => outcome !== "DECLINED")).toHaveLength(17);
  });

  it("refuse the 101st of all, also when all come at once", async () => {
    const { approvals, remove, waiting } = openRemoving({ confirm: async () => "Really?" });
    const close = approvals.open(ignore);
    const called = many(150).map((index) => remove("a", { caller: { ...ada, id: `user ${index % 10}` } }));
    await waiting(100);
    let refused = 0;
    for (const one of called) void one.then((outcome) => (refused += shortOf(outcome) === "CLIENT_CANNOT" ? 1 : 0));
    await until(() => refused === 50);
    expect(approvals.waiting()).toHaveLength(100);
    close();
    expect(new Set((await Promise.all(called)).map(shortOf))).toEqual(new Set(["CLIENT_CANNOT"]));
  });

  it("count the calls that tools make for a caller as the caller's", async () => {
    const { approvals, tools, waiting } = openNesting();
    const close = approvals.open(ignore);
    const called = many(9).map(() => tools.call("outer"));
    await waiting(16);
    close();
    expect(await Promise.all(called)).toHaveLength(9);
  });
});

describe("the time to decide", () => {
  beforeEach(() => void vi.useFakeTimers());

  const settled = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0));

  it("is that of a form, and stops the clock of the call", async () => {
    const { approvals, remove, decide, handler } = openRemoving({}, { askTimeouts: { elicit: 90_000 } });
    approvals.open(ignore);
    const called = remove("/etc");
    await settled();
    const [approval] = approvals.waiting();
    expect((approval?.deadline ?? 0) - (approval?.since ?? 0)).toBe(90_000);
    await vi.advanceTimersByTimeAsync(89_999);
    expect(approvals.waiting()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(approvals.waiting()).toEqual([]);
    expect(decide(approval, true)).toBe(false);
    expect(await called).toMatchObject({ code: "ASK_TIMEOUT", details: { timeoutMs: 90_000 } });
    expect(handler).not.toHaveBeenCalled();
    vi.useRealTimers();
  });

  it("is shorter for a tool with its own deadline", async () => {
    const { approvals, remove } = openRemoving({ timeoutMs: 5000 });
    approvals.open(ignore);
    const called = remove("/etc");
    await settled();
    const [approval] = approvals.waiting();
    expect((approval?.deadline ?? 0) - (approval?.since ?? 0)).toBe(5000);
    await vi.advanceTimersByTimeAsync(5000);
    expect(approvals.waiting()).toEqual([]);
    expect(await called).toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("the approver") });
    vi.useRealTimers();
  });

  it("ends with a decision just before", async () => {
    const { approvals, remove, decide } = openRemoving();
    approvals.open(ignore);
    const called = remove("/etc");
    await settled();
    await vi.advanceTimersByTimeAsync(299_999);
    expect(decide(approvals.waiting()[0], true)).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(shortOf(await called)).toEqual({ path: "/etc" });
    vi.useRealTimers();
  });

  it("ends with the app, whose calls are aborted", async () => {
    const { approvals, tools } = openRemoving({ input: z.object({}) });
    approvals.open(ignore);
    const { call, outcome } = tools.start("remove");
    await settled();
    call.abort(new SurfaceError("CLOSED", "Cannot finish a call: the app is closing"));
    expect(approvals.waiting()).toEqual([]);
    expect(shortOf(await outcome)).toBe("CLOSED");
    vi.useRealTimers();
  });
});

describe("a call that asks its client's model after the decision", () => {
  const sampled: JsonObject = { role: "assistant", content: { type: "text", text: "yes" }, model: "test" };
  const sampling = async (_args: unknown, context: Parameters<AnyBespokeTool["handler"]>[1]): Promise<unknown> =>
    (await context.ask.sample("why", { messages: [{ role: "user", content: "why?" }], maxTokens: 5 })).text;

  it("goes on from the decision when it runs again", async () => {
    const { approvals, tools } = openRemoving({ input: z.object({}), handler: sampling });
    let waits = 0;
    approvals.open({
      changed: () => {
        for (const { id } of approvals.waiting()) {
          waits += 1;
          approvals.decide(id, { agree: true });
        }
      },
    });
    const kinds = new Set<AskKind>(["sample"]);
    const first = await tools.call("remove", {}, { asking: { kinds } });
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    const [key = ""] = Object.keys(first.open);
    const resumed = { record: first.record, answers: { [key]: sampled } };
    expect(shortOf(await tools.call("remove", {}, { asking: { kinds, resumed } }))).toEqual({ value: "yes" });
    expect(waits).toBe(1);
  });

  it("waits for another decision if the question has changed", async () => {
    let size = 1;
    const confirm = (): string => `Remove ${size} files?`;
    const { approvals, tools } = openRemoving({ input: z.object({}), handler: sampling, confirm });
    const messages: string[] = [];
    approvals.open({
      changed: () => {
        for (const { id, message } of approvals.waiting()) {
          messages.push(message.slice(0, 8));
          approvals.decide(id, { agree: size === 1 });
        }
      },
    });
    const kinds = new Set<AskKind>(["sample"]);
    const first = await tools.call("remove", {}, { asking: { kinds } });
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    const [key = ""] = Object.keys(first.open);
    size = 2;
    const resumed = { record: first.record, answers: { [key]: sampled } };
    expect(shortOf(await tools.call("remove", {}, { asking: { kinds, resumed } }))).toBe("DECLINED");
    expect(messages).toEqual(["Remove 1", "Remove 2"]);
  });

  it("needs another decision for an operation that was replaced meanwhile", async () => {
    const approvals = agreeing();
    const look = vi.fn<() => number>(() => 1);
    const outer: AnyBespokeTool = {
      canCall: ["look"],
      handler: async (args, context) => {
        const seen = await context.call("look").catch((cause: unknown) => Reflect.get(Object(cause), "code"));
        return { seen, said: await sampling(args, context) };
      },
    };
    const find = (id: string): ToolEntry | undefined => (id === "look" ? current : undefined);
    const tools = openTools({ outer, look: { confirm: true, mutates: false, handler: look } }, {}, { approvals, find });
    const mount = (): ToolEntry => ({ ...tools.entry("look"), now: () => current });
    let current = mount();
    const kinds = new Set<AskKind>(["sample"]);
    const first = await tools.call("outer", {}, { asking: { kinds } });
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    const [key = ""] = Object.keys(first.open);
    current = mount();
    const resumed = { record: first.record, answers: { [key]: sampled } };
    expect(shortOf(await tools.call("outer", {}, { asking: { kinds, resumed } }))).toEqual({
      seen: "OPERATION_NOT_FOUND",
      said: "yes",
    });
    expect(look).toHaveBeenCalledTimes(1);
  });
});

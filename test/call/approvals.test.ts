import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Approvals, type Approval } from "../../src/call/approvals.ts";
import type { CallContextOptions } from "../../src/call/call-context.ts";
import type { InvokerOptions } from "../../src/call/create-invoker.ts";
import type { AskKind } from "../../src/catalog/asking/asking.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import type { ToolOutcome } from "../../src/catalog/outcome.ts";
import { SurfaceError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { createReporter } from "../../src/surface/fault.ts";
import { until } from "../surface/support.ts";
import { callInRounds, pushing } from "./asking-support.ts";
import { ada, openTools, shortOf, type Tools } from "./nesting-support.ts";

const input = z.object({ path: z.string() });
const ignore = { changed: (): void => {} };

/** Clients that cannot show a form, as each protocol version has them. */
const clients: Readonly<Record<string, () => CallContextOptions["asking"]>> = {
  "without a port": () => undefined,
  "that is asked by messages": () => ({ kinds: new Set<AskKind>(["roots"]), push: () => Promise.reject(new Error()) }),
  "that is asked by answers": () => ({ kinds: new Set<AskKind>(["sample"]) }),
};

interface Removing {
  readonly approvals: Approvals;
  readonly tools: Tools;
  readonly handler: ReturnType<typeof vi.fn<(args: unknown) => unknown>>;
  /** Calls the tool. */
  readonly remove: (path: string, setting?: CallContextOptions) => Promise<ToolOutcome>;
  /** Waits for a number of approvals, and returns them. */
  readonly waiting: (count?: number) => Promise<readonly Approval[]>;
  readonly decide: (approval: Approval | undefined, agree: boolean, word?: string) => boolean;
}

/** Opens a tool that has to be confirmed, and counts its runs. */
function openRemoving(
  more: Partial<AnyBespokeTool> = {},
  options: Partial<InvokerOptions> = {},
  change: Partial<ToolEntry> = {},
): Removing {
  const approvals = new Approvals();
  const handler = vi.fn<(args: unknown) => unknown>((args) => args);
  const remove = { title: "Remove a file", confirm: true, input, handler, ...more };
  const tools = openTools({ remove }, { remove: change }, { approvals, ...options });
  return {
    approvals,
    handler,
    tools,
    remove: (path, setting) => tools.call("remove", { path }, setting),
    waiting: async (count = 1) => {
      await until(() => approvals.waiting().length === count);
      return approvals.waiting();
    },
    decide: (approval, agree, word) =>
      approvals.decide(approval?.id ?? "", { agree, ...(word === undefined ? {} : { word }) }),
  };
}

describe.each(Object.entries(clients))("a confirmation for a client %s", (_name, toClient) => {
  it("waits for a decision, and shows what the user would read", async () => {
    const { approvals, remove, waiting, decide, handler } = openRemoving();
    approvals.open(ignore);
    const before = Date.now();
    const called = remove("/etc", { asking: toClient() });
    const [approval] = await waiting();
    expect(approval).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      tool: "remove",
      caller: "ada",
      message: 'Run "Remove a file"?\npath: "/etc"',
      since: expect.any(Number),
      deadline: (approval?.since ?? 0) + 300_000,
    });
    expect(approval?.since).toBeGreaterThanOrEqual(before);
    expect(handler).not.toHaveBeenCalled();
    expect(decide(approval, true)).toBe(true);
    expect(shortOf(await called)).toEqual({ path: "/etc" });
    expect(handler).toHaveBeenCalledTimes(1);
    expect(approvals.waiting()).toEqual([]);
  });

  it("is DECLINED without consent, and has not run", async () => {
    const { approvals, remove, waiting, decide, handler } = openRemoving();
    approvals.open(ignore);
    const called = remove("/etc", { asking: toClient() });
    expect(decide((await waiting())[0], false)).toBe(true);
    expect(await called).toMatchObject({ code: "DECLINED", details: { action: "decline" } });
    expect(handler).not.toHaveBeenCalled();
  });

  it("is refused at once while approvals are closed", async () => {
    const { approvals, remove, handler } = openRemoving();
    const setting = { asking: toClient() };
    expect(shortOf(await remove("/etc", setting))).toBe("CLIENT_CANNOT");
    const close = approvals.open(ignore);
    close();
    close();
    expect(shortOf(await remove("/etc", setting))).toBe("CLIENT_CANNOT");
    expect(handler).not.toHaveBeenCalled();
  });

  it("runs without one if the tool says so", async () => {
    const { approvals, remove } = openRemoving({ confirm: { otherwise: "allow" } });
    approvals.open({ changed: () => expect.unreachable("nothing waits") });
    expect(shortOf(await remove("/etc", { asking: toClient() }))).toEqual({ path: "/etc" });
  });

  it("needs the word that the user would type", async () => {
    const { approvals, remove, waiting, decide, handler } = openRemoving({ confirm: { type: "CLOSE" } });
    approvals.open(ignore);
    for (const word of [undefined, "", "close"]) {
      const called = remove("/etc", { asking: toClient() });
      const [approval] = await waiting();
      expect(approval).toMatchObject({ word: "CLOSE", message: expect.stringContaining("Type CLOSE to confirm.") });
      expect(decide(approval, true, word)).toBe(true);
      expect(shortOf(await called)).toBe("DECLINED");
    }
    expect(handler).not.toHaveBeenCalled();
    const called = remove("/etc", { asking: toClient() });
    decide((await waiting())[0], true, "CLOSE");
    expect(shortOf(await called)).toEqual({ path: "/etc" });
  });

  it("shows the author's lines, and waits again with another id if they have changed meanwhile", async () => {
    let size = 1;
    const { approvals, remove, waiting, decide, handler } = openRemoving({ confirm: () => `Remove ${size} files?` });
    approvals.open(ignore);
    const called = remove("/etc", { asking: toClient() });
    const [first] = await waiting();
    expect(first?.message).toBe('Remove 1 files?\nTool: "Remove a file"\npath: "/etc"');
    size = 2;
    decide(first, true);
    await until(() => approvals.waiting()[0]?.message.startsWith("Remove 2 files?") === true);
    expect(handler).not.toHaveBeenCalled();
    // An old page still shows the first question.
    expect(decide(first, true)).toBe(false);
    decide(approvals.waiting()[0], true);
    expect(shortOf(await called)).toEqual({ path: "/etc" });
  });

  it("fails when the author's lines change each time", async () => {
    let size = 0;
    const { approvals, remove, handler } = openRemoving({ confirm: () => `Remove ${(size += 1)} files?` });
    approvals.open({
      changed: () => {
        for (const { id } of approvals.waiting()) approvals.decide(id, { agree: true });
      },
    });
    expect(shortOf(await remove("/etc", { asking: toClient() }))).toBe("ASK_FAILED");
    expect(handler).not.toHaveBeenCalled();
  });

  it("disappears with its call", async () => {
    const { approvals, tools, waiting, decide, handler } = openRemoving({ input: z.object({}) });
    approvals.open(ignore);
    const { call, outcome } = tools.start("remove", { asking: toClient() });
    const [approval] = await waiting();
    call.cancel();
    expect(approvals.waiting()).toEqual([]);
    expect(decide(approval, true)).toBe(false);
    expect(shortOf(await outcome)).toBe("ABORTED");
    expect(handler).not.toHaveBeenCalled();
  });

  it("is cancelled, if that comes with the decision", async () => {
    const { approvals, tools, waiting, decide, handler } = openRemoving({ input: z.object({}) });
    approvals.open(ignore);
    const { call, outcome } = tools.start("remove", { asking: toClient() });
    const [approval] = await waiting();
    expect(decide(approval, true)).toBe(true);
    call.cancel();
    expect(shortOf(await outcome)).toBe("ABORTED");
    expect(handler).not.toHaveBeenCalled();
  });

  it("is for a nested call, too, with its own arguments", async () => {
    const { approvals, tools, waiting, decide, handler } = openNesting();
    approvals.open(ignore);
    const called = tools.call("outer", {}, { asking: toClient() });
    const both = await waiting(2);
    expect(both.map(({ tool, message }) => [tool, message.split("\n")[1]])).toEqual([
      ["remove", 'path: "a"'],
      ["remove", 'path: "b"'],
    ]);
    decide(both[1], true);
    decide(both[0], false);
    expect(shortOf(await called)).toEqual({ value: ["DECLINED", { path: "b" }] });
    expect(handler).toHaveBeenCalledTimes(1);
  });
});

/** Opens a tool that calls another one twice at once. */
function openNesting(): Pick<Removing, "approvals" | "tools" | "waiting" | "decide" | "handler"> {
  const approvals = new Approvals();
  const handler = vi.fn<(args: unknown) => unknown>((args) => args);
  const outer: AnyBespokeTool = {
    canCall: ["remove"],
    handler: async (_args, { call }) => {
      const settled = await Promise.allSettled(["a", "b"].map((path) => call("remove", { path })));
      return settled.map((one) => (one.status === "fulfilled" ? one.value : Reflect.get(Object(one.reason), "code")));
    },
  };
  const tools = openTools({ outer, remove: { confirm: true, input, handler } }, {}, { approvals });
  return {
    approvals,
    handler,
    tools,
    waiting: async (count = 1) => {
      await until(() => approvals.waiting().length === count);
      return approvals.waiting();
    },
    decide: (approval, agree) => approvals.decide(approval?.id ?? "", { agree }),
  };
}

describe("a confirmation that a client can show", () => {
  it("never waits for anyone else", async () => {
    const { approvals, remove } = openRemoving();
    approvals.open({ changed: () => expect.unreachable("nothing waits") });
    const asking = pushing(() => ({ action: "accept" }));
    expect(shortOf(await remove("/etc", { asking }))).toEqual({ path: "/etc" });
    expect(shortOf(await remove("/etc", { asking: pushing(() => ({ action: "decline" })) }))).toBe("DECLINED");
  });

  it("never waits for anyone else when it is answered by another request", async () => {
    const { approvals, tools } = openRemoving();
    approvals.open({ changed: () => expect.unreachable("nothing waits") });
    const { outcome, rounds } = await callInRounds(tools, ["remove", { path: "a" }], {
      reply: () => ({ action: "accept" }),
    });
    expect(shortOf(outcome)).toEqual({ path: "a" });
    expect(rounds).toHaveLength(1);
  });
});

describe("a question that is no confirmation", () => {
  it("fails as before: only the client's user can answer it", async () => {
    const approvals = new Approvals();
    approvals.open({ changed: () => expect.unreachable("nothing waits") });
    const handler: AnyBespokeTool["handler"] = (_args, { ask }) => ask.elicit("name", z.object({}), "Name?");
    const tools = openTools({ ask: { handler } }, {}, { approvals });
    expect(shortOf(await tools.call("ask"))).toBe("CLIENT_CANNOT");
  });

  it("fails within a confirmed tool, too", async () => {
    const { approvals, remove, waiting, decide } = openRemoving({
      handler: (_args, { ask }) => ask.elicit("name", z.object({}), "Name?"),
    });
    approvals.open(ignore);
    const called = remove("/etc");
    decide((await waiting())[0], true);
    expect(shortOf(await called)).toBe("CLIENT_CANNOT");
    expect(approvals.waiting()).toEqual([]);
  });
});

describe("a decision", () => {
  it("counts once", async () => {
    const { approvals, remove, waiting, decide, handler } = openRemoving();
    approvals.open(ignore);
    const called = remove("/etc");
    const [approval] = await waiting();
    expect([decide(approval, false), decide(approval, true)]).toEqual([true, false]);
    expect(shortOf(await called)).toBe("DECLINED");
    expect(handler).not.toHaveBeenCalled();
    expect(approvals.decide("unknown", { agree: true })).toBe(false);
  });

  it("is consent only if it is true", async () => {
    const { approvals, remove, waiting } = openRemoving();
    approvals.open(ignore);
    const called = remove("/etc");
    const [approval] = await waiting();
    // A careless caller.
    approvals.decide(approval?.id ?? "", { agree: "false" as unknown as boolean });
    expect(shortOf(await called)).toBe("DECLINED");
  });

  it("is for one call: equal calls need their own", async () => {
    const { approvals, remove, waiting, decide, handler } = openRemoving();
    approvals.open(ignore);
    const called = [remove("/etc"), remove("/etc")];
    const both = await waiting(2);
    expect(new Set(both.map(({ id }) => id)).size).toBe(2);
    decide(both[1], true);
    decide(both[0], false);
    expect((await Promise.all(called)).map(shortOf)).toEqual(["DECLINED", { path: "/etc" }]);
    expect(handler).toHaveBeenCalledTimes(1);
    const again = remove("/etc");
    expect(await waiting()).toHaveLength(1);
    decide(approvals.waiting()[0], false);
    expect(shortOf(await again)).toBe("DECLINED");
  });

  it("does not run a tool that is gone by then", async () => {
    let isShown = true;
    const { approvals, tools, waiting, decide, handler } = openRemoving(
      { input: z.object({}) },
      {},
      { now: () => (isShown ? tools.entry("remove") : undefined) },
    );
    approvals.open(ignore);
    const { outcome } = tools.start("remove");
    const [approval] = await waiting();
    isShown = false;
    decide(approval, true);
    expect(shortOf(await outcome)).toBe("OPERATION_NOT_FOUND");
    expect(handler).not.toHaveBeenCalled();
  });
});

describe("two approvers", () => {
  it("see the same changes, and either decides", async () => {
    const { approvals, remove, waiting, decide } = openRemoving();
    const counts = [0, 0];
    const closers = counts.map((_, index) =>
      approvals.open({ changed: () => void counts.splice(index, 1, (counts[index] ?? 0) + 1) }),
    );
    const called = remove("/etc");
    const [approval] = await waiting();
    expect(counts).toEqual([1, 1]);
    closers[0]?.();
    decide(approval, true);
    expect(counts).toEqual([1, 2]);
    expect(shortOf(await called)).toEqual({ path: "/etc" });
  });

  it("refuse what waits when the last one closes, but not what was decided", async () => {
    const { approvals, remove, waiting, decide } = openRemoving();
    const closers = [approvals.open(ignore), approvals.open(ignore)];
    const called = [remove("a"), remove("b")];
    const [first] = await waiting(2);
    closers[0]?.();
    expect(approvals.waiting()).toHaveLength(2);
    decide(first, true);
    closers[1]?.();
    expect(approvals.waiting()).toEqual([]);
    expect((await Promise.all(called)).map(shortOf)).toEqual([{ path: "a" }, "CLIENT_CANNOT"]);
  });

  it("survive one that throws, which is a fault", async () => {
    const faults: unknown[] = [];
    const report = createReporter({ onFault: ({ cause }) => faults.push(cause) });
    const approvals = new Approvals({ report });
    const tools = openTools({ remove: { confirm: true, handler: () => 1 } }, {}, { approvals });
    const cause = new TypeError("no page");
    let changes = 0;
    approvals.open({
      changed: () => {
        throw cause;
      },
    });
    approvals.open({ changed: () => void (changes += 1) });
    const called = tools.call("remove");
    await until(() => approvals.waiting().length === 1);
    approvals.decide(approvals.waiting()[0]?.id ?? "", { agree: true });
    expect(shortOf(await called)).toEqual({ value: 1 });
    expect(changes).toBe(2);
    expect(faults).toEqual([cause, cause]);
  });
});

describe("bounds", () => {
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
});

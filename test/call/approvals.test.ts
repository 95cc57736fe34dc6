import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Approvals } from "../../src/call/approvals.ts";
import type { CallContextOptions } from "../../src/call/call-context.ts";
import type { AskKind } from "../../src/catalog/asking/asking.ts";
import type { ToolContext } from "../../src/catalog/context/tool-context.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import { createReporter } from "../../src/surface/fault.ts";
import { until } from "../surface/support.ts";
import { ignore, openNesting, openRemoving } from "./approvals-support.ts";
import { callInRounds, pushing } from "./asking-support.ts";
import { openTools, shortOf } from "./nesting-support.ts";

/** Clients that cannot show a form, as each protocol version has them. */
const clients: Readonly<Record<string, () => CallContextOptions["asking"]>> = {
  "without a port": () => undefined,
  "that is asked by messages": () => ({ kinds: new Set<AskKind>(["roots"]), push: () => Promise.reject(new Error()) }),
  "that is asked by answers": () => ({ kinds: new Set<AskKind>(["sample"]) }),
};

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

  it("tells a client that wants progress that it waits, and then only progress that grows", async () => {
    const handler = (_args: unknown, { progress }: Pick<ToolContext<unknown>, "progress">): void => {
      for (const done of [0, 1]) progress({ progress: done, message: "removing" });
    };
    const { approvals, remove, waiting, decide } = openRemoving({ handler });
    const reports: unknown[] = [];
    approvals.open(ignore);
    const called = remove("/etc", { asking: toClient(), sink: (report) => void reports.push(report) });
    const [approval] = await waiting();
    expect(reports).toEqual([{ progress: 0, message: "waiting for a user's decision" }]);
    decide(approval, true);
    await called;
    expect(reports.slice(1)).toEqual([{ progress: 1, message: "removing" }]);
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

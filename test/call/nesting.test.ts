import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { CallContext } from "../../src/call/call-context.ts";
import type { NestedCall, ToolEntry } from "../../src/catalog/entry.ts";
import { content, textBlock } from "../../src/catalog/content/content.ts";
import { callerKey, anonymous, type Caller } from "../../src/surface/caller.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { ToolContext } from "../../src/catalog/context/tool-context.ts";
import { Refusal, SurfaceError } from "../../src/errors.ts";
import { toEntity } from "../../src/views/compile-rules.ts";
import { ada, shortOf, toolsOf } from "./nesting-support.ts";

type Context = ToolContext<unknown, unknown>;

/** What calling another comes to, within a handler: its answer, or the code of what it was refused with. */
async function tryCall({ call }: Context, ...args: Parameters<Context["call"]>): Promise<unknown> {
  try {
    return await call(...args);
  } catch (cause) {
    if (cause instanceof Refusal || cause instanceof SurfaceError) return cause.code;
    throw cause;
  }
}

/** A tool that calls another and answers with what comes of it. */
function calling(id: string, more: Partial<AnyBespokeTool> = {}): AnyBespokeTool {
  return { canCall: ["*"], handler: async (_args, context) => ({ got: await tryCall(context, id) }), ...more };
}

// What its schema lets through.
const add: AnyBespokeTool["handler"] = (args) => Object.values(args as Record<string, number>).reduce((a, b) => a + b);

const done: AnyBespokeTool = { handler: () => ({ done: true }) };
const never: AnyBespokeTool = { handler: () => new Promise(() => {}) };

describe("context.call()", () => {
  it("resolves with the structured content of the tool", async () => {
    const tools = toolsOf({
      outer: { canCall: ["sum"], handler: (_args, { call }) => call("sum", { a: 1, b: 2 }) },
      sum: { input: z.object({ a: z.number(), b: z.number() }), output: z.number(), handler: add },
    });
    expect(shortOf(await tools.call("outer"))).toEqual({ value: 3 });
  });

  it("resolves with the content when the tool says nothing to programs", async () => {
    const tools = toolsOf({
      outer: calling("shown"),
      shown: { handler: () => content([textBlock("seen")]) },
    });
    expect(shortOf(await tools.call("outer"))).toEqual({ got: [{ type: "text", text: "seen" }] });
  });

  it("rejects with the refusal of the tool when it refuses, code and details and all", async () => {
    const caught: unknown[] = [];
    const tools = toolsOf({
      outer: { canCall: ["no"], handler: (_args, { call }) => call("no").catch((cause) => void caught.push(cause)) },
      no: {
        handler: () => {
          throw new Refusal("NOT_FOUND", "not here", { where: 7 });
        },
      },
    });
    await tools.call("outer");
    expect(caught).toEqual([expect.any(Refusal)]);
    expect(caught[0]).toMatchObject({ code: "NOT_FOUND", message: "not here", details: { where: 7 } });
  });

  it("passes on a refusal that the handler does not catch", async () => {
    const tools = toolsOf({
      outer: { canCall: ["no"], handler: (_args, { call }) => call("no") },
      no: {
        handler: () => {
          throw new Refusal("BUSY", "later");
        },
      },
    });
    expect(await tools.call("outer")).toMatchObject({ kind: "refused", code: "BUSY", message: "later" });
  });

  it("does not blame the caller for the handler's invalid arguments", async () => {
    const tools = toolsOf({
      outer: { canCall: ["strict"], handler: (_args, { call }) => call("strict", { secret_field: 1 }) },
      strict: { input: z.object({ name: z.string() }), handler: () => 1 },
    });
    const outcome = await tools.call("outer");
    expect(outcome).toMatchObject({ kind: "refused", code: "INTERNAL", issues: [] });
    expect(JSON.stringify(outcome)).not.toContain("name");
  });

  it("rejects with the issues of the handler's invalid arguments", async () => {
    const caught: unknown[] = [];
    const tools = toolsOf({
      outer: { canCall: ["s"], handler: (_args, { call }) => call("s").catch((cause) => void caught.push(cause)) },
      s: { input: z.object({ name: z.string() }), handler: () => 1 },
    });
    await tools.call("outer");
    expect(caught[0]).toMatchObject({ code: "VALIDATION_ERROR", issues: [{ path: "name" }] });
  });

  it("keeps the id of a fault that the handler does not catch, and reports it once", async () => {
    const tools = toolsOf({
      outer: { canCall: ["bad"], handler: (_args, { call }) => call("bad") },
      bad: {
        handler: () => {
          throw new Error("the secret");
        },
      },
    });
    const outcome = await tools.call("outer");
    expect(tools.faults).toHaveLength(1);
    expect(outcome).toMatchObject({ code: "INTERNAL", correlationId: tools.faults[0]?.correlationId });
  });

  it("finds a tool by its id and by its wire name, as canCall does", async () => {
    for (const canCall of ["git.branch", "git_branch", "git_*", "git.*"]) {
      for (const id of ["git.branch", "git_branch"]) {
        const tools = toolsOf({
          outer: { canCall: [canCall], handler: (_args, { call }) => call(id) },
          "git.branch": done,
        });
        expect(shortOf(await tools.call("outer"))).toEqual({ done: true });
      }
    }
  });

  it("is the handler's own fault, and says nothing of the tool that was called, when it finds nothing and is let through", async () => {
    const tools = toolsOf({ outer: { canCall: ["*"], handler: (_args, { call }) => call("gone") } });
    const outcome = await tools.call("outer");
    expect(outcome).toMatchObject({
      code: "INTERNAL",
      correlationId: tools.faults[0]?.correlationId,
      details: undefined,
    });
    expect(JSON.stringify(outcome)).not.toMatch(/gone|no operation/);
    expect(tools.faults).toHaveLength(1);
  });

  it("is the handler's own fault when the called tool answers that it finds nothing", async () => {
    const gone: AnyBespokeTool = {
      handler: () => {
        throw new Refusal("OPERATION_NOT_FOUND", "there is no operation of this name");
      },
    };
    const tools = toolsOf({ outer: { canCall: ["*"], handler: (_args, { call }) => call("gone") }, gone });
    expect(await tools.call("outer")).toMatchObject({
      code: "INTERNAL",
      correlationId: tools.faults[0]?.correlationId,
    });
    expect(await tools.call("gone")).toMatchObject({ code: "OPERATION_NOT_FOUND" });
  });

  it.each<readonly [string, Partial<AnyBespokeTool>, string]>([
    ["nothing has the name", {}, 'Cannot call "none" from tool "outer": there is no tool of this id or name'],
    [
      "there is no reach",
      { canCall: [] },
      'Cannot call "inner" from tool "outer": its "canCall" must have a pattern that matches "inner", and has nothing',
    ],
    [
      "it is out of reach",
      { canCall: ["x", "y.*"] },
      'Cannot call "inner" from tool "outer": its "canCall" must have a pattern that matches "inner", and has "x", "y.*"',
    ],
    [
      "authority is lacking",
      { mutates: false },
      'Cannot call "inner" from tool "outer": its "callScopes" must have "probe:write", and has "probe:read"',
    ],
  ])("reports the reason to the log, and not to the handler, when %s", async (_what, more, message) => {
    const tools = toolsOf({ outer: calling(message.includes("none") ? "none" : "inner", more), inner: done });
    expect(shortOf(await tools.call("outer"))).toEqual({ got: "OPERATION_NOT_FOUND" });
    expect(tools.faults).toMatchObject([{ where: 'tool "outer"', cause: { message } }]);
  });

  it("rejects with its own code for invalid options", async () => {
    const codes: unknown[] = [];
    const tools = toolsOf({
      outer: {
        canCall: ["*"],
        handler: async (_args, { call }) => {
          for (const options of [null, 5]) {
            // Plain JavaScript may hand over anything.
            await call("outer", {}, options as never).catch((error: SurfaceError) => codes.push(error.code));
          }
        },
      },
    });
    await tools.call("outer");
    expect(codes).toEqual(["INVALID_OPTION", "INVALID_OPTION"]);
  });

  it("causes no unhandled rejection when the handler does not await it", async () => {
    const unhandled = vi.fn<() => void>();
    process.on("unhandledRejection", unhandled);
    const tools = toolsOf({ outer: { canCall: [], handler: (_args, { call }) => void call("nothing") } });
    await tools.call("outer");
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("reports progress if requested, and survives a listener that throws", async () => {
    const reports: unknown[] = [];
    const tools = toolsOf({
      outer: {
        canCall: ["*"],
        handler: async (_args, { call }) => {
          await call("steps", {}, { onProgress: (report) => void reports.push(report) });
          const onProgress = (): void => {
            throw new Error("not today");
          };
          return { got: await call("steps", {}, { onProgress }) };
        },
      },
      steps: {
        handler: (_args, { progress }) => {
          progress({ progress: 1 });
          return "ok";
        },
      },
    });
    expect(shortOf(await tools.call("outer"))).toEqual({ got: { value: "ok" } });
    expect(reports).toEqual([{ progress: 1 }]);
    expect(tools.faults).toHaveLength(1);
  });
});

describe("canCall and callScopes", () => {
  const got = async (tools: ReturnType<typeof toolsOf>, caller: Caller = ada): Promise<unknown> => {
    const outcome = await tools.call("outer", {}, { caller });
    return outcome.kind === "answer" ? JSON.parse(outcome.text).got : outcome;
  };

  it.each<readonly [string, readonly string[] | undefined, string]>([
    ["a tool that declares no reach", undefined, "inner"],
    ["a tool whose reach is another", ["inne", "Inner", "other.*"], "inner"],
    ["a tool that looks for what does not exist", ["*"], "none"],
    ["a tool that looks for what every object has", ["*"], "toString"],
  ])("%s finds nothing, and nothing runs", async (_what, canCall, id) => {
    const handler = vi.fn<() => void>();
    const outer: AnyBespokeTool = {
      ...(canCall && { canCall }),
      handler: async (_args, context) => ({ got: await tryCall(context, id) }),
    };
    const tools = toolsOf({ outer, inner: { handler } });
    expect(await got(tools)).toBe("OPERATION_NOT_FOUND");
    expect(handler).not.toHaveBeenCalled();
  });

  it("a read-only tool cannot call a mutating one without its callScopes", async () => {
    const changes = { inner: done };
    expect(await got(toolsOf({ outer: calling("inner", { mutates: false }), ...changes }))).toBe("OPERATION_NOT_FOUND");
    const said = calling("inner", { mutates: false, callScopes: ["probe:write"] });
    expect(await got(toolsOf({ outer: said, ...changes }))).toEqual({ done: true });
  });

  it("a mutating tool may call a read-only one", async () => {
    const inner = { ...done, mutates: false };
    expect(await got(toolsOf({ outer: calling("inner"), inner }))).toEqual({ done: true });
  });

  it.each([
    ["more", { ...ada, scopes: [...ada.scopes, "admin"] }],
    ["no more", ada],
    ["nothing", { ...anonymous }],
  ])("the caller's scopes do not count when they are %s", async (_what, caller) => {
    const inner = { ...done, scopes: ["admin"] };
    expect(await got(toolsOf({ outer: calling("inner"), inner }), caller)).toBe("OPERATION_NOT_FOUND");
    const trusted = calling("inner", { callScopes: ["probe:write", "admin"] });
    expect(await got(toolsOf({ outer: trusted, inner }), caller)).toEqual({ done: true });
  });

  it("the called tool receives the caller and view, and nothing else of them", async () => {
    const seen: Caller[] = [];
    const view = { surface: "hub" };
    const caller: Caller = { ...ada, view, claims: { secret: 1 }, resources: { "repo:*": ["write"] } };
    const inner: AnyBespokeTool = { handler: (_args, context) => void seen.push(context.caller) };
    await toolsOf({ outer: calling("inner"), inner }).call("outer", {}, { caller });
    const known = { id: "ada", isAnonymous: false, isTool: true, scopes: ["probe:read", "probe:write"], view };
    expect(JSON.parse(JSON.stringify(seen))).toEqual([known]);
    expect(inspect(seen, { depth: null, showHidden: true })).not.toContain("secret");
    expect(seen.map(callerKey)).toEqual([callerKey(caller)]);
  });

  it("the called tool receives an anonymous caller, and may change nothing for a read-only tool", async () => {
    const seen: Caller[] = [];
    const inner: AnyBespokeTool = { handler: (_args, context) => void seen.push(context.caller) };
    const caller = { ...anonymous, view: { surface: "hub" } };
    expect(await got(toolsOf({ outer: calling("inner"), inner }), caller)).toEqual({});
    expect(seen).toEqual([{ ...caller, isTool: true, scopes: ["probe:read", "probe:write"] }]);
    expect(toEntity(seen[0] ?? ada)).toEqual(toEntity(caller));
    const reads = calling("inner", { mutates: false });
    expect(await got(toolsOf({ outer: reads, inner }), caller)).toBe("OPERATION_NOT_FOUND");
  });

  it("a nested tool hands on for an anonymous caller only the scopes that it was called with", async () => {
    const inner = toolsOf({ inner: done }).entry("inner");
    let outcome: unknown;
    // As a gateway does.
    const run: ToolEntry["run"] = async (_input, call) => {
      outcome = shortOf(await call.nest({ target: { entry: inner }, args: {}, as: "caller" }));
    };
    const reads = { mutates: false };
    const tools = toolsOf({ outer: calling("hub", reads), hub: { ...done, ...reads } }, { hub: { run } });
    await tools.call("outer", {}, { caller: anonymous });
    expect(outcome).toBe("OPERATION_NOT_FOUND");
    await tools.call("hub", {}, { caller: anonymous });
    expect(outcome).toEqual({ done: true });
  });

  it("a tool for tools only is found by tools and by no client", async () => {
    const tools = toolsOf({ outer: calling("inner"), inner: done }, { inner: { isInternal: true } });
    expect(await got(tools)).toEqual({ done: true });
    expect(await tools.call("inner")).toEqual({ kind: "denied", scopes: undefined });
  });

  it("calls of a tool for itself are not charged, and calls for its caller are", async () => {
    const keys: string[] = [];
    const limiter = {
      limit: (key: string) => {
        keys.push(key);
        return { ok: true } as const;
      },
    };
    const tools = toolsOf({ outer: calling("inner"), inner: done });
    await tools.call("outer", {}, { limiter });
    expect(keys).toEqual(['[null,"ada",null,""]']);
    // As a gateway does.
    const inner = tools.entry("inner");
    const run: ToolEntry["run"] = (_input, call) => call.nest({ target: { entry: inner }, args: {}, as: "caller" });
    const hub = { ...inner, id: "hub", name: "hub", isUncounted: true, run };
    await tools.invoker.call(hub, {}, new CallContext({ caller: ada, limiter }));
    expect(keys).toEqual(['[null,"ada",null,""]', '[null,"ada",null,""]']);
  });

  it("a call for the caller finds no tool that they may not call, and none by its id", async () => {
    const tools = toolsOf({ inner: { ...done, scopes: ["admin"] }, hub: done });
    const asked = async (nested: Pick<NestedCall, "target">, change: Partial<ToolEntry> = {}): Promise<unknown> => {
      let outcome: unknown;
      const run: ToolEntry["run"] = async (_input, call) => {
        outcome = shortOf(await call.nest({ ...nested, args: {}, as: "caller" }));
      };
      await tools.invoker.call({ ...tools.entry("hub"), run, ...change }, {}, new CallContext({ caller: ada }));
      return outcome;
    };
    expect(await asked({ target: { entry: tools.entry("inner") } })).toBe("OPERATION_NOT_FOUND");
    expect(await asked({ target: { id: "hub" } }, { canCall: ["*"] })).toBe("OPERATION_NOT_FOUND");
    expect(await asked({ target: { entry: { ...tools.entry("hub"), isInternal: true } } })).toBe("OPERATION_NOT_FOUND");
    expect(await asked({ target: { entry: tools.entry("hub") } })).toEqual({ done: true });
  });
});

describe("calls within calls that come to no end", () => {
  it("a tool that calls itself fails after 16 levels", async () => {
    let runs = 0;
    const tools = toolsOf({
      outer: {
        canCall: ["outer"],
        handler: async (_args, context) => {
          runs += 1;
          return { got: await tryCall(context, "outer") };
        },
      },
    });
    const text = JSON.stringify(shortOf(await tools.call("outer")));
    expect(runs).toBe(17);
    expect(text).toContain("CALL_DEPTH");
  });
});

describe("calls within calls, ended early", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A tool that starts another and waits for nothing. */
  const leaving = (options: object): AnyBespokeTool => ({
    canCall: ["*"],
    handler: async (_args, { call }) => {
      void call("inner", {}, options);
      await new Promise(() => {});
    },
  });

  const states = (tools: ReturnType<typeof toolsOf>): unknown =>
    tools.tree
      .roots()
      .map(({ state, code, children }) => [state, code, children.map((each) => [each.state, each.code])]);

  it("a nested call ends when the call above is cancelled", async () => {
    const aborted = vi.fn<() => void>();
    const inner: AnyBespokeTool = {
      handler: (_args, { signal }) => new Promise(() => signal.addEventListener("abort", aborted)),
    };
    const tools = toolsOf({ outer: leaving({}), inner });
    const { call, outcome } = tools.start("outer");
    await vi.advanceTimersByTimeAsync(1);
    call.cancel();
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(states(tools)).toEqual([["aborted", "ABORTED", [["aborted", "ABORTED"]]]]);
    expect(shortOf(await outcome)).toBe("ABORTED");
  });

  it("a detached call that has started continues until its own deadline", async () => {
    const tools = toolsOf({ outer: { ...leaving({ onAbort: "continue-running" }), timeoutMs: 100 }, inner: never });
    const { call } = tools.start("outer");
    await vi.advanceTimersByTimeAsync(1);
    call.cancel();
    expect(states(tools)).toEqual([["aborted", "ABORTED", [["running", undefined]]]]);
    await vi.advanceTimersByTimeAsync(98);
    expect(states(tools)).toEqual([["aborted", "ABORTED", [["running", undefined]]]]);
    await vi.advanceTimersByTimeAsync(2);
    expect(states(tools)).toEqual([["aborted", "ABORTED", [["error", "TIMEOUT"]]]]);
  });

  it("a detached call that has not started never starts", async () => {
    const handler = vi.fn<() => void>();
    const input = z.object({}).refine(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return true;
    });
    const tools = toolsOf({ outer: leaving({ onAbort: "continue-running" }), inner: { input, handler } });
    const { call } = tools.start("outer");
    await vi.advanceTimersByTimeAsync(10);
    call.cancel();
    await vi.advanceTimersByTimeAsync(100);
    expect(handler).not.toHaveBeenCalled();
    expect(states(tools)).toEqual([["aborted", "ABORTED", [["aborted", "ABORTED"]]]]);
  });

  it("a detached call ends when the app closes", async () => {
    const tools = toolsOf({ outer: leaving({ onAbort: "continue-running" }), inner: never });
    const { call } = tools.start("outer");
    await vi.advanceTimersByTimeAsync(1);
    call.cancel();
    tools.invoker.close();
    expect(states(tools)).toEqual([["aborted", "ABORTED", [["aborted", "CLOSED"]]]]);
  });

  it("a call that is not awaited ends when its handler has answered", async () => {
    const tools = toolsOf({ outer: { canCall: ["*"], handler: (_, { call }) => void call("inner") }, inner: never });
    await tools.call("outer");
    expect(states(tools)).toEqual([["completed", undefined, [["aborted", "ABORTED"]]]]);
  });

  it("a deadline ends all nested calls, and each learns which deadline it was", async () => {
    const told: unknown[] = [];
    const tools = toolsOf({
      outer: {
        canCall: ["inner"],
        timeoutMs: 100,
        handler: (_args, { call }) => call("inner").catch((cause) => void told.push(cause.code)),
      },
      inner: { ...never, timeoutMs: 500 },
    });
    const deadline = Date.now() + 100;
    const { outcome } = tools.start("outer");
    await vi.advanceTimersByTimeAsync(101);
    expect(await outcome).toMatchObject({ code: "TIMEOUT", details: { deadline } });
    expect(told).toEqual(["TIMEOUT"]);
    expect(states(tools)).toEqual([["error", "TIMEOUT", [["error", "TIMEOUT"]]]]);
    expect(tools.tree.roots()[0]?.children[0]?.deadline).toBe(deadline);
  });

  it.each([
    ["its own", { timeoutMs: 20 }, {}],
    ["that of this call", {}, { timeoutMs: 20 }],
  ])("a deadline before that of the call above is kept when it is %s", async (_what, ofTool, ofCall) => {
    const tools = toolsOf({
      outer: {
        canCall: ["inner"],
        handler: async (_args, context) => ({ got: await tryCall(context, "inner", {}, ofCall) }),
      },
      inner: { ...never, ...ofTool },
    });
    const { outcome } = tools.start("outer");
    await vi.advanceTimersByTimeAsync(21);
    expect(shortOf(await outcome)).toEqual({ got: "TIMEOUT" });
  });

  it("a late nested call does not start", async () => {
    const handler = vi.fn<() => void>();
    const tools = toolsOf({ outer: calling("inner"), inner: { handler } });
    const outer: AnyBespokeTool = {
      canCall: ["inner"],
      handler: async (_args, context) => ({ got: await tryCall(context, "inner", {}, { timeoutMs: -1 }) }),
    };
    expect(shortOf(await toolsOf({ outer, inner: { handler } }).call("outer"))).toEqual({ got: "TIMEOUT" });
    const { call, outcome } = tools.start("outer");
    call.cancel();
    await outcome;
    expect(await call.nest({ target: { id: "inner" }, args: {}, as: "tool" })).toMatchObject({ code: "ABORTED" });
    expect(tools.tree.roots().flatMap(({ children }) => children)).toHaveLength(1);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])(
    "a call is answered as it is recorded when it is cancelled %i steps after its handler is done",
    async (steps) => {
      let end: () => void = () => {};
      const tools = toolsOf({ one: { handler: () => new Promise<void>((resolve) => (end = resolve)) } });
      const { call, outcome } = tools.start("one");
      end();
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      call.cancel();
      const answered = await outcome;
      expect(tools.tree.roots()[0]?.code).toBe(answered.kind === "refused" ? answered.code : undefined);
    },
  );

  it("nothing is idle while a part of it runs that does not listen to its end", async () => {
    let end: () => void = () => {};
    const inner: AnyBespokeTool = { handler: () => new Promise<void>((resolve) => (end = resolve)) };
    const tools = toolsOf({ outer: { canCall: ["inner"], handler: (_args, { call }) => call("inner") }, inner });
    const { call, outcome } = tools.start("outer");
    await vi.advanceTimersByTimeAsync(1);
    call.cancel();
    await outcome;
    await vi.advanceTimersByTimeAsync(1);
    const idle = vi.fn<() => void>();
    call.whenIdle(idle);
    await vi.advanceTimersByTimeAsync(1000);
    expect(idle).not.toHaveBeenCalled();
    end();
    await vi.advanceTimersByTimeAsync(1);
    expect(idle).toHaveBeenCalledTimes(1);
  });

  it("a caller receives the abandoned work of a call before its outcome, and of no other call", async () => {
    let end: () => void = () => {};
    const told: string[] = [];
    const outer: AnyBespokeTool = { canCall: ["*"], handler: () => new Promise(() => {}) };
    const deaf: AnyBespokeTool = { timeoutMs: 20, handler: () => new Promise<void>((resolve) => (end = resolve)) };
    const tools = toolsOf({ outer, deaf, done });
    const { call } = tools.start("outer");
    const ask = async (id: string): Promise<void> => {
      const onOverrun = (work: Promise<unknown>): void => {
        told.push(`${id} runs`);
        void work.then(() => told.push(`${id} ended`));
      };
      told.push(`${id}: ${String(shortOf(await call.nest({ target: { id }, args: {}, as: "tool", onOverrun })))}`);
    };
    const asked = Promise.all([ask("deaf"), ask("done"), ask("none")]);
    await vi.advanceTimersByTimeAsync(21);
    await asked;
    expect(told.slice(-2)).toEqual(["deaf runs", "deaf: TIMEOUT"]);
    end();
    await vi.advanceTimersByTimeAsync(1);
    expect(told.slice(2)).toEqual(["deaf runs", "deaf: TIMEOUT", "deaf ended"]);
    call.cancel();
  });
});

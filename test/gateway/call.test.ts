import * as fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import { createInvoker } from "../../src/call/create-invoker.ts";
import type { NestedCall } from "../../src/catalog/entry.ts";
import type { ErrorResult, ToolOutcome } from "../../src/catalog/outcome.ts";
import type { Issue } from "../../src/errors.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { GatewayBench, callOf, catalogOf, operation } from "./support.ts";

const entries = Array.from({ length: 60 }, (_none, index) => operation(`n.op${index}`));
const bench = GatewayBench.over(entries);

function idOf({ target }: NestedCall): string {
  return "entry" in target ? target.entry.id : target.id;
}

function refusedBy(code: string, more: Partial<ErrorResult> = {}): ErrorResult {
  return { kind: "refused", code, message: "no", issues: [], details: undefined, correlationId: undefined, ...more };
}

function answers(value: unknown): ToolOutcome {
  return { kind: "answer", text: JSON.stringify(value) };
}

function callsOf(count: number): { readonly tool: string }[] {
  return Array.from({ length: count }, (_none, index) => ({ tool: `n.op${index}` }));
}

afterEach(() => {
  vi.useRealTimers();
});

describe("call", () => {
  it("answers each call in its place, as it would answer alone, when they end in every way", async () => {
    const outcomes: Record<string, ToolOutcome> = {
      "n.op0": answers({ value: 1 }),
      "n.op1": { kind: "rich", blocks: '[{"type":"text","text":"x"}]', structured: '{"a":1}' },
      "n.op2": { kind: "rich", blocks: '[{"type":"text","text":"x"}]', structured: undefined },
      "n.op3": { kind: "denied", scopes: ["secret"] },
      "n.op4": refusedBy("TAKEN", { details: { by: "ada" } }),
      "n.op5": refusedBy("VALIDATION_ERROR", { issues: [{ path: "name", message: "expected a string" }] }),
      "n.op6": refusedBy("INTERNAL", { correlationId: "x", retryable: true }),
    };
    const nest = async (nested: NestedCall): Promise<ToolOutcome> => outcomes[idOf(nested)] ?? refusedBy("NEVER");
    const calls = [...callsOf(7), { tool: "no.such" }, { tool: "n_op0" }];
    const failed = (error: object): object => ({ success: false, error });
    const unknown = failed({ code: "OPERATION_NOT_FOUND", message: "there is no operation of this name" });
    expect(await bench.ask("call", { calls }, callOf({ nest }))).toEqual({
      results: [
        { success: true, result: { value: 1 } },
        { success: true, result: { a: 1 } },
        { success: true, result: [{ type: "text", text: "x" }] },
        // Near a name is never what has it, so that what is denied is answered as what does not exist.
        failed({
          code: "OPERATION_NOT_FOUND",
          message: 'there is no operation of this name; near it: "n.op30", "n.op31", "n.op32"',
        }),
        failed({ code: "TAKEN", message: "no", details: { by: "ada" } }),
        failed({ code: "VALIDATION_ERROR", message: "no", details: [{ path: "name", message: "expected a string" }] }),
        failed({ code: "INTERNAL", message: "no" }),
        unknown,
        { success: true, result: { value: 1 } },
      ],
    });
  });

  it("is an error only when every call failed", async () => {
    const tool = bench.tool("call");
    const nest = async (nested: NestedCall): Promise<ToolOutcome> =>
      idOf(nested) === "n.op0" ? answers({}) : refusedBy("NO");
    const isError = async (calls: readonly { readonly tool: string }[]): Promise<boolean | undefined> =>
      tool.output.isError?.(await tool.run(tool.input.decode({ calls: [...calls] }), callOf({ nest })));
    expect(await isError(callsOf(3))).toBe(false);
    expect(await isError(callsOf(1))).toBe(false);
    expect(await isError(callsOf(3).slice(1))).toBe(true);
    expect(await isError([{ tool: "no.such" }])).toBe(true);
  });

  it("hands on what it was asked under its caller's own authority, with one deadline, when it nests", async () => {
    const nested: NestedCall[] = [];
    const nest = async (one: NestedCall): Promise<ToolOutcome> => {
      nested.push(one);
      return answers({});
    };
    await bench.ask("call", { calls: [{ tool: "n.op1", input: { a: 1 } }, { tool: "n.op2" }] }, callOf({ nest }));
    expect(nested.map(({ target, args, as }) => ({ target, args, as }))).toEqual([
      { target: { entry: entries[1] }, args: { a: 1 }, as: "caller" },
      { target: { entry: entries[2] }, args: {}, as: "caller" },
    ]);
    const [first, second] = nested.map(({ deadlineAt = 0 }) => deadlineAt);
    expect(first).toBe(second);
    expect(first).toBeGreaterThan(performance.now());
    expect(first).toBeLessThanOrEqual(performance.now() + 60_000);
  });

  it("answers in the order of the calls, with never more at once than was asked for, when they end as they like", async () => {
    const drawn = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(drawn, fc.boolean(), async (turns, parallel) => {
        let running = 0;
        let most = 0;
        const nest = async (nested: NestedCall): Promise<ToolOutcome> => {
          await Promise.resolve();
          running += 1;
          most = Math.max(most, running);
          const index = Number(idOf(nested).slice("n.op".length));
          for (let turn = (turns[index] ?? 0) + 1; turn > 0; turn -= 1) await Promise.resolve();
          running -= 1;
          return (turns[index] ?? 0) === 3 ? refusedBy(`NO${index}`) : answers({ index });
        };
        const { results } = await bench.ask("call", { calls: callsOf(turns.length), parallel }, callOf({ nest }));
        expect(results).toEqual(
          turns.map((turn, index) =>
            turn === 3
              ? { success: false, error: { code: `NO${index}`, message: "no" } }
              : { success: true, result: { index } },
          ),
        );
        expect(most).toBe(parallel ? Math.min(8, turns.length) : 1);
      }),
      { numRuns: 60 },
    );
  });

  it("is not counted when a caller may call only so often, nor is what only tells of operations: each operation is", async () => {
    const keys: string[] = [];
    const limiter = {
      limit: (key: string) => {
        keys.push(key);
        return { ok: true } as const;
      },
    };
    const caller = { id: "ada", isAnonymous: false, scopes: ["hub:read", "hub:write"] };
    const invoker = createInvoker({ report: () => {} });
    const ask = async (name: string, args: JsonObject): Promise<ToolOutcome> =>
      invoker.call(bench.tool(name), args, new CallContext({ caller, limiter }));
    const told = [ask("list", {}), ask("search", { q: "op" }), ask("schema", { tool: "n.op1" })];
    for (const outcome of await Promise.all(told)) expect(outcome.kind).toBe("answer");
    expect(keys).toEqual([]);
    await ask("call", { calls: [...callsOf(2), { tool: "no.such" }] });
    expect(keys).toEqual([expect.stringMatching(/"ada"/), expect.stringMatching(/"ada"/)]);
    invoker.close();
  });

  it("finds what a call before has brought when they run one after another", async () => {
    let catalog = catalogOf([operation("hub.register")]);
    const hub = new GatewayBench({ catalog: () => catalog, isGranted: () => true });
    const nest = async (): Promise<ToolOutcome> => {
      catalog = catalogOf([operation("hub.register"), operation("hub.fresh")]);
      return answers({});
    };
    const calls = [{ tool: "hub.fresh" }, { tool: "hub.register" }, { tool: "hub.fresh" }];
    const { results } = await hub.ask("call", { calls }, callOf({ nest }));
    expect(results).toMatchObject([{ success: false }, { success: true }, { success: true }]);
  });

  it("asks nothing of what its caller was not granted when it is named", async () => {
    const hidden = new GatewayBench({ catalog: () => catalogOf(entries), isGranted: () => false });
    const nest = vi.fn<() => Promise<ToolOutcome>>(async () => answers({}));
    const calls = [{ tool: "n.op1" }, { tool: "no.such" }];
    const { results } = await hidden.ask("call", { calls }, callOf({ nest }));
    expect(nest).not.toHaveBeenCalled();
    const [denied, unknown]: readonly unknown[] = Array.isArray(results) ? results : [];
    expect(denied).toEqual(unknown);
    expect(denied).toMatchObject({ success: false, error: { code: "OPERATION_NOT_FOUND" } });
  });

  it("begins nothing more, and says so, when it was cancelled", async () => {
    const controller = new AbortController();
    const begun: string[] = [];
    const nest = async (nested: NestedCall): Promise<ToolOutcome> => {
      begun.push(idOf(nested));
      if (begun.length < 2) return answers({});
      controller.abort();
      return refusedBy("ABORTED");
    };
    const { results } = await bench.ask("call", { calls: callsOf(4) }, callOf({ nest, signal: controller.signal }));
    expect(begun).toEqual(["n.op0", "n.op1"]);
    expect(results).toMatchObject([
      { success: true },
      { error: { code: "ABORTED" } },
      { error: { code: "ABORTED", message: "the batch was cancelled before this call started" } },
      { error: { code: "ABORTED" } },
    ]);
  });

  it("begins nothing more, and says when time was up, when the deadline has passed", async () => {
    vi.useFakeTimers({ now: 1_000_000 });
    const begun: string[] = [];
    const nest = async (nested: NestedCall): Promise<ToolOutcome> => {
      begun.push(idOf(nested));
      vi.advanceTimersByTime(begun.length === 2 ? 60_000 : 0);
      return begun.length === 2 ? refusedBy("TIMEOUT", { details: { deadline: 1_060_000 } }) : answers({});
    };
    const { results } = await bench.ask("call", { calls: callsOf(4) }, callOf({ nest }));
    expect(begun).toEqual(["n.op0", "n.op1"]);
    const late = { success: false, error: { code: "TIMEOUT", details: { deadline: 1_060_000 } } };
    expect(results).toMatchObject([{ success: true }, late, late, late]);
    expect(bench.tool("call").timeoutMs).toBeGreaterThan(60_000);
  });

  it.each([
    ["one after another", false, 1],
    ["eight at once", true, 8],
  ])(
    "keeps the place of one that was given up until its work has ended when they run %s",
    async (_how, parallel, most) => {
      const ends: (() => void)[] = [];
      const nest = async ({ onOverrun }: NestedCall): Promise<ToolOutcome> => {
        onOverrun?.(new Promise<void>((resolve, reject) => ends.push(ends.length % 2 === 0 ? resolve : reject)));
        return refusedBy("TIMEOUT");
      };
      const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
      let isDone = false;
      const asked = bench.ask("call", { calls: callsOf(most + 2), parallel }, callOf({ nest }));
      const answered = asked.then(({ results }) => {
        isDone = true;
        return results;
      });
      await settle();
      expect(ends).toHaveLength(most);
      ends[0]?.();
      await settle();
      expect([ends.length, isDone]).toEqual([most + 1, false]);
      ends[most]?.();
      // Nobody waits for the work of the last.
      expect(await answered).toHaveLength(most + 2);
      expect(ends).toHaveLength(most + 2);
    },
  );

  it("begins nothing more at the deadline when one that was given up still runs", async () => {
    vi.useFakeTimers({ now: 1_000_000 });
    const begun: string[] = [];
    const nest = async (nested: NestedCall): Promise<ToolOutcome> => {
      begun.push(idOf(nested));
      nested.onOverrun?.(new Promise(() => {}));
      return refusedBy("TIMEOUT", { details: { deadline: 1_000_050 } });
    };
    const asked = bench.ask("call", { calls: callsOf(3) }, callOf({ nest }));
    await vi.advanceTimersByTimeAsync(60_010);
    expect((await asked)["results"]).toMatchObject(
      [50, 60_000, 60_000].map((after) => ({ error: { details: { deadline: 1_000_000 + after } } })),
    );
    expect(begun).toEqual(["n.op0"]);
  });

  it("answers at once when it is cancelled while one that was given up still runs", async () => {
    const controller = new AbortController();
    const nest = async ({ onOverrun }: NestedCall): Promise<ToolOutcome> => {
      onOverrun?.(new Promise(() => {}));
      return refusedBy("TIMEOUT");
    };
    const asked = bench.ask("call", { calls: callsOf(3) }, callOf({ nest, signal: controller.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await asked)["results"]).toMatchObject(
      ["TIMEOUT", "ABORTED", "ABORTED"].map((code) => ({ error: { code } })),
    );
  });

  it("tells how far all of it is, always further, when its parts tell how far they are", async () => {
    const nest = async ({ onProgress }: NestedCall): Promise<ToolOutcome> => {
      onProgress?.({ progress: 1, total: 2, message: "half" });
      onProgress?.({ progress: 1 });
      onProgress?.({ progress: 7, total: 2, message: "more than all" });
      onProgress?.({ progress: Number.NaN, total: 2 });
      return answers({});
    };
    const call = callOf({ nest });
    await bench.ask("call", { calls: callsOf(2) }, call);
    const told = call.told.map(({ progress }) => progress);
    expect(told).toEqual(told.toSorted((left, right) => left - right));
    expect(new Set(told).size).toBe(told.length);
    expect(told.at(-1)).toBe(2);
    expect(call.told[0]).toEqual({ progress: 0.5, total: 2, message: "1 of 2: half" });
    expect(call.told.at(-1)).toEqual({ progress: 2, total: 2, message: "2 of 2: n.op1" });
  });

  const fits = { tool: "n.op1" };
  it.each<readonly [string, unknown]>([
    ["left out", undefined],
    ["none", []],
    ["51", Array.from({ length: 51 }, () => fits)],
    ["10,000", Array.from({ length: 10_000 }, () => fits)],
    ["an object", { 0: fits, length: 1 }],
  ])("refuses all of it before anything runs when its calls are %s", (_what, calls) => {
    const args = calls === undefined ? {} : { calls };
    // Whatever JSON it is.
    const attempt = (): unknown => bench.tool("call").input.decode(args as never);
    const issues = [{ path: "calls", message: "expected a list of 1 to 50 calls" }];
    expect(attempt).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR", issues }));
  });

  const noTool = "expected the id of an operation, a string";
  const noInput = "expected the operation's input, an object";
  const noCall = "expected { tool, input? }, an object";
  const unknown = "there is no such argument; expected tool, input";
  it.each<readonly [string, unknown, Issue]>([
    ["a text", "n.op1", { path: "calls.1", message: noCall }],
    ["a list", [fits], { path: "calls.1", message: noCall }],
    ["null", null, { path: "calls.1", message: noCall }],
    ["without a tool", { input: {} }, { path: "calls.1.tool", message: noTool }],
    ["of a tool that is no text", { tool: 3 }, { path: "calls.1.tool", message: noTool }],
    [
      "of a tool that is inherited",
      JSON.parse('{"__proto__":{"tool":"n.op1"}}'),
      { path: "calls.1.__proto__", message: unknown },
    ],
    ["with input that is null", { ...fits, input: null }, { path: "calls.1.input", message: noInput }],
    ["with input that is a text", { ...fits, input: "{}" }, { path: "calls.1.input", message: noInput }],
    ["with input that is a list", { ...fits, input: [] }, { path: "calls.1.input", message: noInput }],
    ["with another word for its input", { ...fits, arguments: {} }, { path: "calls.1.arguments", message: unknown }],
    ["of what does not exist, misspelt", { tool: "no.such", args: {} }, { path: "calls.1.args", message: unknown }],
    [
      "with a name as long as that",
      { ...fits, ["x".repeat(10_000)]: 1 },
      { path: `calls.1.${"x".repeat(117)}…`, message: unknown },
    ],
  ])("fails one alone, and says what it expected of it, when it is %s", async (_what, call, issue) => {
    const begun: string[] = [];
    const nest = async (nested: NestedCall): Promise<ToolOutcome> => {
      begun.push(idOf(nested));
      return answers({});
    };
    // Whatever JSON it is.
    const args = { calls: [{ tool: "n.op0" }, call, { tool: "n.op2" }] } as never;
    const error = { code: "VALIDATION_ERROR", message: "the arguments do not fit", details: [issue] };
    const succeeded = { success: true, result: {} };
    const progress = callOf({ nest });
    expect(await bench.ask("call", args, progress)).toEqual({
      results: [succeeded, { success: false, error }, succeeded],
    });
    expect(begun).toEqual(["n.op0", "n.op2"]);
    expect(progress.told.map(({ message }) => message)).toEqual(["1 of 3: n.op0", "2 of 3", "3 of 3: n.op2"]);
  });

  it("is an error when none of its calls is one", async () => {
    const tool = bench.tool("call");
    const results = await tool.run(tool.input.decode({ calls: [null, "n.op1"] }), callOf());
    expect(tool.output.isError?.(results)).toBe(true);
  });

  it("takes 50 calls, and no more, when there are as many", async () => {
    const { results } = await bench.ask("call", { calls: callsOf(50) }, callOf({ nest: async () => answers({}) }));
    expect(results).toHaveLength(50);
  });

  it("refuses parallel when it is no boolean", () => {
    const attempt = (): unknown => bench.tool("call").input.decode({ calls: [fits], parallel: "yes" });
    expect(attempt).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
  });
});

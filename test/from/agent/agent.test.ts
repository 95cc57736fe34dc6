import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { MemoryContext } from "../../../src/catalog/context/memory-context.ts";
import { Refusal } from "../../../src/errors.ts";
import { agent, agents, type AgentDefinition, type AgentStep } from "../../../src/from/agent/index.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { thrownBy } from "../../catalog/support.ts";
import { settle } from "../../surface/support.ts";
import { runAgent } from "./agent-support.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const noted: Fault[] = [];
const onFault = (fault: Fault): void => void noted.push(fault);

afterEach(() => {
  noted.length = 0;
});

/** What was reported by agents, in words. */
function complaints(): readonly string[] {
  return noted.map(({ where, cause }) => `${where}: ${cause instanceof Error ? cause.message : String(cause)}`);
}

/** An agent of nothing but steps. */
function telling(...steps: readonly unknown[]) {
  return agent({
    name: "tell",
    onFault,
    async *run() {
      // For authors who cast.
      for (const step of steps) yield step as AgentStep;
      return "told";
    },
  });
}

describe("the steps of an agent (D11)", () => {
  it("become progress that rises by one, with the kind in the message and everything in _meta", async () => {
    const { reports, outcome } = await runAgent(
      telling(
        { kind: "llm_call_started", model: "echo-1" },
        { kind: "llm_call_completed", tokens: 42, latencyMs: 180.4 },
        { kind: "tool_call_started", tool: "search" },
        { kind: "tool_call_completed", tool: "search", hits: [1, 2] },
        { kind: "mine", message: "thinking of it" },
        { kind: "bare" },
      ),
    );
    expect(reports.map(({ progress, message }) => [progress, message])).toEqual([
      [1, "llm_call_started: echo-1"],
      [2, "llm_call_completed: 42 tokens, 180 ms"],
      [3, "tool_call_started: search"],
      [4, "tool_call_completed: search"],
      [5, "mine: thinking of it"],
      [6, "bare"],
    ]);
    expect(reports.map(({ meta }) => meta?.["surface-mcp/step"])).toEqual([
      { kind: "llm_call_started", model: "echo-1" },
      { kind: "llm_call_completed", tokens: 42, latencyMs: 180.4 },
      { kind: "tool_call_started", tool: "search" },
      { kind: "tool_call_completed", tool: "search", hits: [1, 2] },
      { kind: "mine", message: "thinking of it" },
      { kind: "bare" },
    ]);
    expect(outcome).toMatchObject({ kind: "answer", text: '{"value":"told"}' });
  });

  it("carry tokens only if the agent counts them, and never an invalid number", async () => {
    const { reports, call, faults } = await runAgent(
      telling(
        { kind: "llm_call_completed" },
        { kind: "llm_call_completed", tokens: Number.NaN },
        { kind: "llm_call_completed", tokens: "many" },
        { kind: "llm_call_completed", tokens: -1 },
        { kind: "llm_call_completed", tokens: 0 },
      ),
    );
    const none = { kind: "llm_call_completed" };
    expect(reports.map(({ meta }) => meta?.["surface-mcp/step"])).toEqual([
      none,
      none,
      none,
      none,
      { ...none, tokens: 0 },
    ]);
    expect(call.meta).not.toHaveProperty("surface-mcp/tokens");
    expect(faults).toEqual([]);
  });

  it("come to a sum of tokens where every call of a model says how many", async () => {
    const { call } = await runAgent(
      telling(
        { kind: "llm_call_completed", tokens: 40 },
        { kind: "tool_call_completed", tokens: 1000 },
        { kind: "llm_call_completed", tokens: 2 },
      ),
    );
    expect(call.meta).toMatchObject({ "surface-mcp/tokens": 42 });
  });

  it("come to no sum where no model was called", async () => {
    const { call } = await runAgent(telling({ kind: "tool_call_completed", tokens: 1000 }));
    expect(call.meta).not.toHaveProperty("surface-mcp/tokens");
  });

  it("are left out and reported once if they are invalid, and the run continues", async () => {
    const hostile = Object.defineProperty({}, "kind", {
      enumerable: true,
      get() {
        throw new Error("look away");
      },
    });
    const { reports, outcome } = await runAgent(
      telling(undefined, null, 3, "llm_call_started", {}, { kind: 7 }, { kind: "" }, hostile, { kind: "good" }),
    );
    expect(reports.map(({ progress, message }) => [progress, message])).toEqual([[1, "good"]]);
    expect(complaints()).toEqual([
      'agent "tell": Cannot report a step of agent "tell": it must be an object with a "kind"',
    ]);
    expect(outcome).toMatchObject({ kind: "answer" });
  });

  it("lose the parts that are no JSON", async () => {
    const cyclic: Record<string, unknown> = { kind: "cyclic" };
    cyclic["self"] = cyclic;
    const { reports } = await runAgent(
      telling(
        { ...cyclic, kept: 1 },
        { kind: "odd", run: () => 1, sign: Symbol("s"), big: 2n ** 70n, gone: undefined, at: new Date(0) },
        JSON.parse('{ "kind": "proto", "__proto__": { "polluted": true } }'),
      ),
    );
    expect(reports.map(({ meta }) => JSON.stringify(meta?.["surface-mcp/step"]))).toEqual([
      '{"kind":"cyclic","kept":1}',
      '{"kind":"odd","at":"1970-01-01T00:00:00.000Z"}',
      '{"kind":"proto","__proto__":{"polluted":true}}',
    ]);
  });

  it("become a message only if they exceed 4 KiB", async () => {
    const { reports } = await runAgent(telling({ kind: "large", all: "x".repeat(5000) }));
    expect(reports).toEqual([{ progress: 1, message: "large" }]);
  });

  it("may come from step() until the run ends", async () => {
    let late: ((step: AgentStep) => void) | undefined;
    const { reports, outcome } = await runAgent(
      agent({
        name: "plain",
        run: async (_input, { step }) => {
          late = step;
          step({ kind: "one" });
          await settle(1);
          step({ kind: "two" });
          return 1;
        },
      }),
    );
    late?.({ kind: "late" });
    expect(reports.map(({ message }) => message)).toEqual(["one", "two"]);
    expect(outcome).toMatchObject({ text: '{"value":1}' });
  });

  it("are not read without a progress token", async () => {
    const source = agent({
      name: "quiet",
      async *run() {
        yield { kind: "one", details: { toJSON: () => expect.unreachable() } };
        return 1;
      },
    });
    const progress: unknown[] = [];
    const { context } = await import("../../catalog/mounts/mount-support.ts");
    await source.invoke("quiet", undefined, { ...context, progress: (report) => void progress.push(report) });
    expect(progress).toHaveLength(1);
  });
});

describe("a run of an agent (D14)", () => {
  it("has its own run id and context among concurrent runs", async () => {
    const source = agent({
      name: "own",
      input: z.object({ mine: z.number() }),
      context: ({ runId }) => ({ runId, mine: [] as number[] }),
      async *run({ mine }, { context, runId }) {
        for (let turn = 0; turn < 5; turn += 1) {
          context.mine.push(mine);
          yield { kind: "turn" };
          await settle(1);
        }
        return { runId, made: context.runId, mine: context.mine };
      },
    });
    const runs = await Promise.all(Array.from({ length: 100 }, (_, mine) => runAgent(source, { mine })));
    const ids = runs.map(({ call }) => call.meta?.["surface-mcp/runId"]);
    expect(new Set(ids).size).toBe(100);
    for (const [mine, { outcome, reports }] of runs.entries()) {
      const id = ids[mine];
      expect(id).toMatch(uuid);
      expect(outcome).toEqual({
        kind: "answer",
        text: JSON.stringify({ runId: id, made: id, mine: [mine, mine, mine, mine, mine] }),
      });
      expect(reports).toHaveLength(5);
    }
  });

  it("has its own memory by default (D15)", async () => {
    const source = agent({
      name: "memory",
      run: async (_input, { context }) => {
        const had = context.kv.get("seen") ?? null;
        context.kv.set("seen", true);
        return { had, isNew: context.jobs.enqueue("once", 1) };
      },
    });
    for (let call = 0; call < 2; call += 1) {
      const { outcome } = await runAgent(source);
      expect(outcome).toMatchObject({ text: '{"had":null,"isNew":true}' });
    }
  });

  it("uses the memory that its author shares (D15)", async () => {
    const shared = { count: 0 };
    const source = agent({
      name: "shared",
      context: () => shared,
      run: (_input, { context }) => (context.count += 1),
    });
    await runAgent(source);
    expect((await runAgent(source)).outcome).toMatchObject({ text: '{"value":2}' });
  });

  it("creates its context once at first use, and disposes of it at its end", async () => {
    const told: string[] = [];
    const source = agent({
      name: "kept",
      input: z.object({ uses: z.boolean() }),
      context: () => {
        told.push("made");
        return {
          async [Symbol.asyncDispose]() {
            told.push("ended");
          },
        };
      },
      async *run({ uses }, own) {
        yield { kind: "before" };
        const used = uses ? [own.context, own.context] : [];
        told.push(`ran with ${new Set(used).size}`);
        return 1;
      },
    });
    await runAgent(source, { uses: false });
    expect(told.splice(0)).toEqual(["ran with 0"]);
    await runAgent(source, { uses: true });
    expect(told).toEqual(["made", "ran with 1", "ended"]);
  });

  it("fails with its id and nothing of the thrown error", async () => {
    for (const thrown of [new Error("secret"), "secret", undefined, null, { secret: true }]) {
      const { outcome, call, faults } = await runAgent(
        agent({
          name: "fails",
          async *run() {
            yield { kind: "llm_call_completed", tokens: 7 };
            // oxlint-disable-next-line typescript/only-throw-error -- what authors may throw
            throw thrown;
          },
        }),
      );
      expect(outcome).toMatchObject({ kind: "refused", code: "INTERNAL" });
      expect(JSON.stringify(outcome)).not.toContain("secret");
      expect(faults).toMatchObject([{ cause: thrown }]);
      expect(call.meta).toEqual({ "surface-mcp/runId": expect.stringMatching(uuid), "surface-mcp/tokens": 7 });
    }
  });

  it("fails with its author's refusal", async () => {
    const { outcome } = await runAgent(
      agent({
        name: "refuses",
        // oxlint-disable-next-line require-yield -- it says no at once
        async *run() {
          throw new Refusal("BUSY", "another time", { at: 7 });
        },
      }),
    );
    expect(outcome).toMatchObject({ kind: "refused", code: "BUSY", details: { at: 7 } });
  });

  it("is refused where its context cannot be made", async () => {
    const make = (): never => {
      throw new Error("secret");
    };
    const source = agent({ name: "a", context: make, run: (_input, own) => own.context });
    expect((await runAgent(source)).outcome).toMatchObject({ kind: "refused", code: "INTERNAL" });
  });

  it("returns only values that fit its schema", async () => {
    const source = agent({
      name: "a",
      output: z.object({ text: z.string() }),
      // For authors who cast.
      run: async () => ({ text: 7 }) as unknown as { text: string },
    });
    expect((await runAgent(source)).outcome).toMatchObject({ kind: "refused", code: "INVALID_OUTPUT" });
  });
});

describe("an agent's result", () => {
  const told = (message: string) => ({ kind: message });
  async function* later(): AsyncGenerator<AgentStep, string> {
    yield told("one");
    return "done";
  }
  function* now(): Generator<AgentStep, string> {
    yield told("one");
    return "done";
  }
  const byHand = (): object => {
    let count = 0;
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => {
        count += 1;
        if (count > 2) throw new Error("asked after its end");
        return count === 1 ? { value: told("one") } : { done: true, value: "done" };
      },
    };
  };

  it.each<[string, AgentDefinition<never, never, unknown>["run"]]>([
    ["a generator", later],
    ["a generator by and by", async () => later()],
    ["a generator that is not asynchronous", () => now()],
    ["steps by hand, without a return()", byHand],
  ])("may be %s", async (...row) => {
    const { reports, outcome } = await runAgent(agent({ name: "a", run: row[1] }));
    expect(reports.map(({ message }) => message)).toEqual(["one"]);
    expect(outcome).toMatchObject({ text: '{"value":"done"}' });
  });

  it.each<[string, object | number | undefined, string]>([
    ["a value", 7, '{"value":7}'],
    ["a list", [1, 2], '{"value":[1,2]}'],
    ["an object", { a: 1 }, '{"a":1}'],
    ["an object with a next()", { a: 1, next: 2 }, '{"a":1,"next":2}'],
    ["nothing", undefined, "{}"],
  ])("may be %s, without a step", async (_what, answer, text) => {
    for (const run of [
      () => answer,
      async () => answer,
      // oxlint-disable-next-line require-yield -- an agent without steps
      async function* () {
        return answer;
      },
    ]) {
      const { reports, outcome } = await runAgent(agent({ name: "a", run }));
      expect([reports, outcome]).toEqual([[], { kind: "answer", text }]);
    }
  });
});

describe("agent()", () => {
  it.each<[string, object, string]>([
    ["a blank in its name", { name: "a b", run: () => 1 }, "INVALID_NAME"],
    ["no name", { run: () => 1 }, "INVALID_OPTION"],
    ["no run", { name: "a" }, "MISSING_HANDLER"],
    ["a context that is none", { name: "a", run: () => 1, context: {} }, "INVALID_OPTION"],
    ["an unknown key", { name: "a", run: () => 1, scope: ["x"] }, "INVALID_OPTION"],
    [
      "a run that changes nothing and destroys",
      { name: "a", run: () => 1, mutates: false, destructive: true },
      "CONTRADICTION",
    ],
    [
      "an input that nobody could hold",
      { name: "a", run: () => 1, input: { unevaluatedItems: false } },
      "SCHEMA_UNSUPPORTED",
    ],
  ])("refuses %s at once", (...row) => {
    const [, definition, code] = row;
    // For authors who cast.
    const make = (): unknown => agent(definition as AgentDefinition<never, never, MemoryContext>);
    expect(thrownBy(() => void make())).toMatchObject({ code });
  });

  it("has the title and hints of the agent's options", () => {
    const source = agent({
      name: "crew.write",
      title: "Write",
      mutates: false,
      confirm: true,
      timeoutMs: 7,
      scopes: ["x"],
      run: () => 1,
    });
    expect(source.list()).toEqual([
      { name: "crew.write", title: "Write", type: "query", confirm: true, timeoutMs: 7, scopes: ["x"] },
    ]);
  });
});

describe("agents()", () => {
  const named = (name: string) => agent({ name, run: () => name });

  it("combines several agents into one source", async () => {
    const source = agents(named("one"), named("two"));
    expect(source.list().map(({ name }) => name)).toEqual(["one", "two"]);
    expect((await runAgent(source)).outcome).toMatchObject({ text: '{"value":"one"}' });
  });

  it("refuses two agents with one name, also with one wire name", () => {
    expect(thrownBy(() => void agents(named("a"), named("a")))).toMatchObject({ code: "NAME_COLLISION" });
    expect(thrownBy(() => void agents(named("a.b"), named("a_b")))).toMatchObject({ code: "NAME_COLLISION" });
  });
});

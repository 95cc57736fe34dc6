import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcpInvoker } from "../../../src/builder/mcp-invoker.ts";
import { Refusal } from "../../../src/errors.ts";
import { invoker, invokers } from "../../../src/from/invoker/invoker.ts";
import type { ToolInvoker, ToolSpec } from "../../../src/from/invoker/tool-invoker.ts";
import { http } from "../../../src/http/index.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { agentKinds } from "../../scenarios/support/clients.ts";
import { expectRefusal } from "../../tags/support.ts";

const closing: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of closing.splice(0).toReversed()) await each.close();
});

function closed<TClosing extends { close(): Promise<unknown> }>(made: TClosing): TClosing {
  closing.push(made);
  return made;
}

type Run = (args: unknown) => unknown;

/** An invoker whose tools a test replaces. */
class Bench implements ToolInvoker {
  readonly calls: string[] = [];
  specs: readonly ToolSpec[];
  runs: Readonly<Record<string, Run>>;

  constructor(specs: readonly (ToolSpec | string)[], runs: Readonly<Record<string, Run>> = {}) {
    this.specs = specs.map((spec) => (typeof spec === "string" ? { name: spec } : spec));
    this.runs = runs;
  }

  list(): readonly ToolSpec[] {
    return this.specs;
  }

  invoke(name: string, args: unknown): unknown {
    this.calls.push(name);
    return this.runs[name]?.(args) ?? name;
  }
}

/** The same, which says when it has changed. */
class ToldBench extends Bench {
  readonly #told = new Set<() => void>();

  subscribe(changed: () => void): () => void {
    this.#told.add(changed);
    return () => void this.#told.delete(changed);
  }

  become(...specs: readonly ToolSpec[]): void {
    this.specs = specs;
    for (const changed of this.#told) changed();
  }

  get listeners(): number {
    return this.#told.size;
  }
}

/** One that answers later, when a test says so. */
class LateBench extends Bench {
  #waiting: ((specs: readonly ToolSpec[]) => void)[] = [];

  // The same method, answered later.
  override list(): readonly ToolSpec[] {
    return new Promise<readonly ToolSpec[]>((resolve) => this.#waiting.push(resolve)) as never;
  }

  get asked(): number {
    return this.#waiting.length;
  }

  answer(...specs: readonly ToolSpec[]): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(specs);
  }
}

function clientOf(chain: ToolInvoker | readonly ToolInvoker[], faults: Fault[] = []) {
  return closed(createTestClient(mcpInvoker(chain, { onFault: (fault) => void faults.push(fault) })));
}

function messagesOf(faults: readonly Fault[]): readonly string[] {
  return faults.map(({ cause }) => String(cause));
}

const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

describe("D3: tools from invokers", () => {
  it.each(agentKinds)("D3 are listed and run when a client of $name asks", async ({ connect }) => {
    const bench = new Bench(
      [{ name: "add", description: "Adds one", inputSchema: number, annotations: { readOnlyHint: true } }, "say"],
      { add: (args) => ({ sum: (args as { n: number }).n + 1 }), say: () => 'a "text"' },
    );
    const serving = closed(await mcpInvoker(bench, { name: "bench" }).serve(http({ port: 0, exit: false })));
    const agent = closed(await connect({ url: serving.url }));
    const { tools } = await agent.toolListing();
    expect(tools).toEqual([
      expect.objectContaining({
        ...{ name: "add", description: "Adds one", inputSchema: expect.objectContaining({ required: ["n"] }) },
        annotations: expect.objectContaining({ readOnlyHint: true }),
      }),
      expect.objectContaining({ name: "say", annotations: expect.objectContaining({ destructiveHint: true }) }),
    ]);
    expect(await agent.call("add", { n: 1 })).toMatchObject({
      ...{ content: [{ type: "text", text: '{"sum":2}' }], structuredContent: { sum: 2 } },
    });
    expect(await agent.call("say")).toMatchObject({ content: [{ type: "text", text: 'a "text"' }] });
    expect(await agent.call("add", { n: "x" })).toMatchObject({ isError: true });
    await expect(agent.call("nope")).rejects.toThrow("no such tool");
    expect(bench.calls).toEqual(["add", "say"]);
  });

  it("D3 come in the order of several chained invokers", async () => {
    const [first, second] = [new Bench(["a"]), new Bench(["b"])];
    const client = clientOf([first, second]);
    expect(await client.toolNames()).toEqual(["a", "b"]);
    await client.tools["b"]?.();
    expect([first.calls, second.calls]).toEqual([[], ["b"]]);
  });

  it.each([
    ["of one name", "fs_read"],
    ["of names that are one on the wire", "fs.read"],
  ])("D3 are refused at once when two are %s", (_what, first) => {
    expectRefusal(
      () => invoker(new Bench([first]), new Bench(["fs_read"])),
      "NAME_COLLISION",
      `tool "fs_read" of invoker 2: its name on the wire, "fs_read", is taken by tool "${first}" of invoker 1`,
    );
    expectRefusal(() => invoker(new Bench([first, "fs_read"])), "NAME_COLLISION", "of invoker 1");
  });

  it("D3 are left out and reported once when a duplicate comes later", async () => {
    const faults: Fault[] = [];
    const [first, second] = [new Bench(["a"]), new ToldBench([])];
    const client = clientOf([first, second], faults);
    expect(await client.toolNames()).toEqual(["a"]);
    second.become({ name: "a" }, { name: "b" });
    second.become({ name: "a" }, { name: "b" });
    expect(await client.toolNames()).toEqual(["a", "b"]);
    await client.tools["a"]?.();
    expect([first.calls, second.calls]).toEqual([["a"], []]);
    expect(messagesOf(faults)).toEqual([expect.stringContaining('tool "a" of invoker 2')]);
  });

  it("D3 are listed once an asynchronous invoker has answered", async () => {
    const late = new LateBench([]);
    const client = clientOf([new Bench(["now"]), late]);
    expect(await client.toolNames()).toEqual(["now"]);
    late.answer({ name: "soon" });
    await expect.poll(() => client.toolNames()).toEqual(["now", "soon"]);
    expect(await client.tools["soon"]?.()).toMatchObject({ text: "soon" });
  });

  it("D3 are read again by refresh(), and once more when it is called during a read", async () => {
    const late = new LateBench([]);
    const source = invoker(late);
    expect(late.asked).toBe(1);
    source.refresh();
    expect(late.asked).toBe(1);
    late.answer({ name: "old" });
    await expect.poll(() => late.asked).toBe(1);
    late.answer({ name: "new" });
    await expect.poll(() => source.list().map(({ name }) => name)).toEqual(["new"]);
    source.refresh();
    expect(late.asked).toBe(1);
  });

  it("D3 stay as listed last, with a report, when list() fails or returns no list", async () => {
    const faults: Fault[] = [];
    const bench = new ToldBench(["a"]);
    const client = clientOf([bench, new Bench(["b"])], faults);
    expect(await client.toolNames()).toEqual(["a", "b"]);
    bench.list = () => {
      throw new TypeError("gone fishing");
    };
    bench.become();
    expect(await client.toolNames()).toEqual(["a", "b"]);
    bench.list = () => "none" as never;
    bench.become();
    expect(await client.toolNames()).toEqual(["a", "b"]);
    bench.list = () => Promise.reject(new TypeError("later")) as never;
    bench.become();
    expect(await client.toolNames()).toEqual(["a", "b"]);
    await expect.poll(() => faults.length).toBe(3);
    expect(messagesOf(faults).join()).toMatch(/gone fishing.*array of tools.*later/);
  });

  it("D3 are the same operations when an equal list comes", () => {
    const bench = new ToldBench([{ name: "a", inputSchema: number }]);
    const source = invoker(bench);
    const [before] = source.list();
    source.subscribe(() => {});
    bench.become({ name: "a", inputSchema: { ...number } });
    expect(source.list()[0]).toBe(before);
    bench.become({ name: "a", inputSchema: { ...number, required: [] } });
    expect(source.list()[0]).not.toBe(before);
  });

  it("D3 are listened to once, and not any more when the last has left", () => {
    const bench = new ToldBench(["a"]);
    const source = invoker(bench);
    const stops = [source.subscribe(() => {}), source.subscribe(() => {})];
    expect(bench.listeners).toBe(1);
    for (const stop of stops) stop();
    expect(bench.listeners).toBe(0);
    stops[0]?.();
    source.subscribe(() => {});
    expect(bench.listeners).toBe(1);
  });

  it("D3 have names derived from those that are invalid here", async () => {
    const names = ["get-weather", "get_weather", "fs.read", "ns/tool", "über", "", "a_x2d_b", "a-b"];
    const bench = new Bench(names);
    const client = clientOf(bench);
    const listed = await client.toolNames();
    expect(new Set(listed).size).toBe(names.length);
    expect(listed).toContain("get-weather");
    expect(listed).toContain("fs_read");
    for (const name of listed) await client.tools[name]?.();
    expect(bench.calls.toSorted()).toEqual(names.toSorted());
  });

  it("D3 are left out and reported when they cannot be tools, and the others work", async () => {
    const faults: Fault[] = [];
    const odd: readonly unknown[] = [1, {}, { name: "x".repeat(80) }, { name: "bad", inputSchema: 1 }, { name: "ok" }];
    // As invokers do that cast.
    const client = clientOf({ list: () => odd as readonly ToolSpec[], invoke: () => 1 }, faults);
    expect(await client.toolNames()).toEqual(["ok"]);
    expect(faults.length).toBe(4);
  });

  it("D3 take a schema, a JSON Schema, `parameters`, or nothing as input", async () => {
    const given: unknown[] = [];
    const run: Run = (args) => given.push(args);
    const bench = new Bench(
      [
        { name: "zod", inputSchema: z.object({ n: z.coerce.number() }) },
        { name: "json", inputSchema: { properties: { n: { type: "number" } } } },
        { name: "model", parameters: { ...number, $schema: "http://json-schema.org/draft-07/schema#" } },
        "any",
      ],
      { zod: run, json: run, model: run, any: run },
    );
    const client = clientOf(bench);
    expect(await client.tools["zod"]?.({ n: 1 })).toMatchObject({ isError: false });
    expect(await client.tools["json"]?.({ n: 1 })).toMatchObject({ isError: false });
    expect(await client.tools["model"]?.({ n: "1" })).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await client.tools["any"]?.({ whatever: [1] })).toMatchObject({ isError: false });
    expect(given).toEqual([{ n: 1 }, { n: 1 }, { whatever: [1] }]);
  });

  it.each<[string, unknown, object]>([
    ["an object", { a: 1 }, { structured: { a: 1 }, text: '{"a":1}' }],
    ["a text", "plain", { text: "plain" }],
    ["a list", [1, 2], { structured: { value: [1, 2] }, text: "[1,2]" }],
    ["a number", 7, { structured: { value: 7 }, text: "7" }],
    ["null", null, { structured: { value: null }, text: "null" }],
  ])("D4 have structured content when they return %s", async (_what, answer, told) => {
    const client = clientOf({ list: () => [{ name: "a" }], invoke: () => answer });
    expect(await client.tools["a"]?.()).toMatchObject(told);
  });

  it("D4 return an empty text for undefined", async () => {
    const client = clientOf({ list: () => [{ name: "a" }], invoke: () => undefined });
    const { content } = await client.request("tools/call", { name: "a" });
    expect(content).toEqual([{ type: "text", text: "" }]);
  });

  it("D4 fail when they do not return their declared output", async () => {
    const outputSchema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const bench = new Bench(
      [
        { name: "right", outputSchema },
        { name: "wrong", outputSchema },
        { name: "text", outputSchema: { type: "string" } },
      ],
      {
        right: () => ({ a: 1 }),
        wrong: () => ({ a: "x" }),
        text: () => "plain",
      },
    );
    const client = clientOf(bench);
    expect(await client.tools["right"]?.()).toMatchObject({ structured: { a: 1 } });
    expect(await client.tools["wrong"]?.()).toMatchObject({ isError: true, code: "INVALID_OUTPUT" });
    expect(await client.tools["text"]?.()).toMatchObject({ structured: { value: "plain" }, text: "plain" });
  });

  it("D4 are masked when they throw, and keep the text of a refusal", async () => {
    const faults: Fault[] = [];
    const bench = new Bench(["bad", "no"], {
      bad: () => {
        throw new TypeError("the secret");
      },
      no: () => Promise.reject(new Refusal("NO_FUEL", "there is no fuel")),
    });
    const client = clientOf(bench, faults);
    const bad = await client.tools["bad"]?.();
    expect(bad).toMatchObject({ isError: true, code: "INTERNAL" });
    expect(JSON.stringify(bad)).not.toContain("secret");
    expect(messagesOf(faults)).toEqual(["TypeError: the secret"]);
    expect(await client.tools["no"]?.()).toMatchObject({ code: "NO_FUEL" });
  });

  it("D4 are passed on when they return MCP results", async () => {
    const png = { type: "image", data: "AQI=", mimeType: "image/png" };
    const link = { type: "resource_link", uri: "app://x", name: "x" };
    const embedded = { type: "resource", resource: { uri: "app://y", text: "y" } };
    const answers = [
      { content: [{ type: "text", text: "it failed" }], isError: true },
      { content: [{ type: "text", text: "seen" }, png, link, embedded], structuredContent: { a: 1 } },
      { content: [{ type: "later", x: 1 }], isError: false },
      { content: [], isError: false },
      { content: ["not", "blocks"] },
    ];
    let index = 0;
    const client = clientOf({ list: () => [{ name: "a" }], invoke: () => answers[index++] });
    const call = () => client.request("tools/call", { name: "a" });
    expect(await call()).toMatchObject({ isError: true, content: [{ type: "text", text: "it failed" }] });
    expect(await call()).toMatchObject({
      ...{ content: [{ text: "seen" }, png, link, embedded], structuredContent: { a: 1 } },
    });
    expect(await call()).toMatchObject({ content: [{ type: "text", text: '{"type":"later","x":1}' }] });
    expect(await call()).toMatchObject({ content: [] });
    expect(await call()).toMatchObject({ structuredContent: { content: ["not", "blocks"] } });
  });
});

describe("bad input: an invoker whose list changes between list and call", () => {
  it.each<[string, new (specs: readonly (ToolSpec | string)[]) => Bench]>([
    ["says so", ToldBench],
    ["says nothing", Bench],
  ])("answers as unknown when the tool has gone and its invoker %s", async (_what, Kind) => {
    const bench = new Kind(["a", "b"]);
    const client = clientOf(bench);
    expect(await client.toolNames()).toEqual(["a", "b"]);
    if (bench instanceof ToldBench) bench.become({ name: "b" });
    else bench.specs = [{ name: "b" }];
    const answer = await client.tools["a"]?.().catch(String);
    expect(JSON.stringify(answer)).toMatch(/OPERATION_NOT_FOUND|no such tool/);
    expect(bench.calls).toEqual([]);
    expect(await client.toolNames()).toEqual(["b"]);
  });

  it.each<[string, new (specs: readonly (ToolSpec | string)[]) => Bench]>([
    ["says so", ToldBench],
    ["says nothing", Bench],
  ])("checks the arguments once more when the schema has changed and its invoker %s", async (_what, Kind) => {
    const bench = new Kind([{ name: "a", inputSchema: number }]);
    const client = clientOf(bench);
    expect(await client.toolNames()).toEqual(["a"]);
    const strict = { type: "object", properties: { n: { type: "number", minimum: 5 } }, required: ["n"] };
    if (bench instanceof ToldBench) bench.become({ name: "a", inputSchema: strict });
    else bench.specs = [{ name: "a", inputSchema: strict }];
    expect(await client.tools["a"]?.({ n: 1 })).toMatchObject({ isError: true, code: "VALIDATION_ERROR" });
    expect(bench.calls).toEqual([]);
    expect(await client.tools["a"]?.({ n: 6 })).toMatchObject({ isError: false });
    expect(bench.calls).toEqual(["a"]);
  });
});

describe("invokers()", () => {
  it.each([
    ["nothing", []],
    ["null", [null]],
    ["one without invoke()", [{ list: () => [] }]],
    ["one whose subscribe is no method", [{ list: () => [], invoke: () => 1, subscribe: 1 }]],
  ])("refuses a chain when it has %s", (_what, chain) => {
    // As callers who cast do.
    expectRefusal(() => invokers(chain as unknown as ToolInvoker[]), "INVALID_OPTION", "list() and invoke()");
  });
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import type { ProgressReport } from "../../src/catalog/entry.ts";
import { Refusal } from "../../src/errors.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { RpcFailure } from "../../src/testing/rpc-failure.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { cast } from "../tags/support.ts";

const surface = defineSurface("s", {
  state: mcpResource(cell({ schema: z.object({ n: z.number() }) })),
  rows: mcpResource(collection({ key: z.string(), schema: z.number() })),
  log: mcpResource(stream({ input: z.object({ node: z.string(), line: z.number().optional() }), output: z.string() })),
  pull: mcpTool(stream({ output: z.number() })),
  done: mcpTool(event({ output: z.string() })),
  add: mcpTool(procedure({ input: z.object({ a: z.number(), b: z.number().default(1) }), output: z.number() })),
  plan: mcpTool(procedure({ input: z.object({ on: z.date(), seats: z.set(z.string()) }) })),
  "node.run": mcpTool(procedure({ input: z.string(), output: z.object({ ran: z.string() }), progress: z.string() })),
  hang: mcpTool(procedure({})),
  refuse: mcpTool(procedure({})),
});

const aborted: unknown[] = [];

const app = mcp(surface, { onFault: () => {}, pageSize: 3 })
  .implement({
    state: cellSource({ n: 1 }),
    rows: cellSource(new Map([["a b", 1]])),
    async *log({ node, line }) {
      yield `${node}:${line ?? "last"}`;
    },
    async *pull() {
      yield 1;
      yield 2;
    },
    async *done(_input, { signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield "too late";
    },
    add: ({ a, b }) => a + b,
    plan() {},
    async *"node.run"(node) {
      yield "started";
      yield "half";
      return { ran: node };
    },
    hang: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(signal.reason);
          reject(new Error("aborted"));
        });
      }),
    refuse: () => {
      throw new Refusal("NOT_NOW", "a run is in progress", { run: 7 });
    },
  })
  .tools({ extra: { input: z.array(z.number()), handler: (numbers) => numbers.length } });

describe.each(["legacy", "modern"] as const)("createTestClient() in the %s era", (era) => {
  it("tools answer with their structured value and its exact text when they are called by name", async () => {
    const client = createTestClient(app, { era });
    expect(await client.tools.add({ a: 1, b: 2 })).toEqual({
      isError: false,
      structured: { value: 3 },
      text: '{"value":3}',
      content: [{ type: "text", text: '{"value":3}' }],
    });
    expect(await client.tools.add({ a: 1 })).toMatchObject({ structured: { value: 2 } });
    expect(await client.tools.node_run({ value: "x" })).toMatchObject({ structured: { ran: "x" } });
    expect(await client.tools.extra({ value: [1, 2] })).toMatchObject({ structured: { value: 2 } });
    expect(await client.tools.pull({ max_items: 2 })).toMatchObject({ structured: { items: expect.any(Array) } });
    expect(await client.tools.done({ timeout_ms: 0 })).toMatchObject({ structured: { status: "timed_out" } });
    await client.close();
  });

  it("toolNames() gives every name over all pages, in the order of the wire", async () => {
    const client = createTestClient(app, { era });
    expect(await client.toolNames()).toEqual(["add", "done", "extra", "hang", "node_run", "plan", "pull", "refuse"]);
    await client.close();
  });

  it("read() reads a resource, and with variables one of a family, when it is asked for by key", async () => {
    const client = createTestClient(app, { era });
    expect(await client.read("state")).toEqual({ n: 1 });
    expect(await client.read("rows")).toEqual(["a b"]);
    expect(await client.read("rows", { key: "a b" })).toBe(1);
    expect(await client.read("log", { node: "x/y" })).toBe("x/y:last");
    expect(await client.read("log", { node: "é", line: 3 })).toBe("é:3");
    await client.close();
  });

  it("read() rejects as the protocol does when there is no such item, and before asking when there is no such key", async () => {
    const client = createTestClient(app, { era });
    await expect(client.read("rows", { key: "nope" })).rejects.toMatchObject({
      name: "RpcFailure",
      code: era === "legacy" ? -32_002 : -32_602,
    });
    await expect(client.read("add" as "state")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(client.read("log")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await client.close();
  });

  it("arguments that do not fit answer with an error and its issues when they are cast", async () => {
    const client = createTestClient(app, { era });
    const answer = await cast(client.tools.add, { a: "one" });
    expect(answer).toMatchObject({ isError: true, code: "VALIDATION_ERROR" });
    expect(JSON.stringify(answer)).toContain('"a"');
    await client.close();
  });

  it("arguments that do not fit are described by the form that travels", async () => {
    const client = createTestClient(app, { era });
    const answer = await cast(client.tools.plan, { on: "soon", seats: "a1" });
    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/on: .*date-time string/) });
    expect(answer.text).not.toMatch(/expected (date|set)\b(?!-)/i);
    await client.close();
  });

  it("a refusal crosses with its code, message and details", async () => {
    const client = createTestClient(app, { era });
    expect(await client.tools.refuse()).toMatchObject({
      isError: true,
      code: "NOT_NOW",
      error: { code: "NOT_NOW", message: "a run is in progress", details: { run: 7 } },
      text: expect.stringContaining("a run is in progress"),
    });
    await client.close();
  });

  it("onProgress receives what a procedure yields on its way, in order", async () => {
    const client = createTestClient(app, { era });
    const reports: ProgressReport[] = [];
    await client.tools.node_run({ value: "x" }, { onProgress: (report) => reports.push(report) });
    expect(reports.map(({ message }) => message)).toEqual(["started", "half"]);
    expect(reports.map(({ progress }) => progress)).toEqual([1, 2]);
    await client.close();
  });

  it("a signal cancels the call, whether it fires before or while it runs", async () => {
    const client = createTestClient(app, { era });
    aborted.length = 0;
    const controller = new AbortController();
    const answer = client.tools.hang({}, { signal: controller.signal });
    await client.toolNames();
    controller.abort();
    expect(await answer).toMatchObject({ isError: true, code: "ABORTED" });
    await expect.poll(() => aborted.length).toBe(1);
    expect(await client.tools.hang({}, { signal: AbortSignal.abort() })).toMatchObject({ code: "ABORTED" });
    await client.close();
  });

  it("a tool that does not exist answers as on the wire when its name is cast", async () => {
    const client = createTestClient(app, { era });
    const tools = client.tools as unknown as Record<string, () => Promise<unknown>>;
    for (const name of ["nope", "toString", "constructor", "node.run"]) {
      await expect(tools[name]?.()).rejects.toBeInstanceOf(RpcFailure);
      await expect(tools[name]?.()).rejects.toMatchObject({ code: -32_602 });
    }
    await client.close();
  });

  it("tools is no promise, so that awaiting it by mistake does not call a tool named then", async () => {
    const client = createTestClient(app, { era });
    expect(await Promise.resolve(client.tools)).toBe(client.tools);
    expect(Object.prototype.toString.call(client.tools)).toBe("[object Object]");
    await client.close();
  });

  it("request() rejects with the protocol's code when a cursor is bad", async () => {
    const client = createTestClient(app, { era });
    await expect(client.request("tools/list", { cursor: "nope" })).rejects.toMatchObject({ code: -32_602 });
    await client.close();
  });

  it("close() may be called twice, and calls after it are refused", async () => {
    const client = createTestClient(app, { era });
    await client.close();
    await client.close();
    expect(await client.tools.add({ a: 1 })).toMatchObject({ isError: true, code: "CLOSED" });
  });
});

describe("createTestClient()", () => {
  it("throws the boot error that serving would when an app cannot be opened", () => {
    const broken = mcp(surface).implement(cast(Object, {}));
    expect(() => createTestClient(broken)).toThrow(expect.objectContaining({ code: "MISSING_HANDLER" }));
  });
});

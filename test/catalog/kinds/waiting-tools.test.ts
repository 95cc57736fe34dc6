import { assert, describe, expect, it } from "vitest";
import { z } from "zod";
import { CallContext } from "../../../src/call/call-context.ts";
import { createInvoker } from "../../../src/call/create-invoker.ts";
import type { ToolOutcome } from "../../../src/catalog/outcome.ts";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import type { ToolEntry } from "../../../src/catalog/entry.ts";
import type { JsonObject } from "../../../src/schema/json.ts";
import { event, stream } from "../../../src/surface/define-members.ts";
import type { Member } from "../../../src/surface/member.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { mcp } from "../../../src/builder/mcp.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { flakyBackend } from "../resources/flaky-backend.ts";
import { catalogOf, thrownBy } from "../support.ts";

const text = z.string();

function only(catalog: Catalog): ToolEntry {
  const [tool] = catalog.tools;
  assert(tool !== undefined, "there is no tool");
  return tool;
}

function toolOf(member: Member, handler?: unknown): ToolEntry {
  return only(catalogOf({ probe: member }, handler === undefined ? {} : { handlers: { probe: handler } }));
}

async function callTool(tool: ToolEntry, args: JsonObject, call = new CallContext()): Promise<ToolOutcome> {
  const invoker = createInvoker({ report: () => {} });
  const outcome = await invoker.call(tool, args, call);
  invoker.close();
  return outcome;
}

async function answerOf(tool: ToolEntry, args: JsonObject): Promise<unknown> {
  const outcome = await callTool(tool, args);
  return outcome.kind === "answer" ? JSON.parse(outcome.text) : outcome;
}

/** Says what it was given, once, and then nothing. */
async function* echo(input: unknown): AsyncGenerator {
  yield JSON.stringify(input ?? null);
  await new Promise(() => {});
}

const pull = (input?: z.ZodType): Member =>
  mcpTool(stream({ ...(input === undefined ? {} : { input }), output: text }) as never);
const wait = (input?: z.ZodType): Member =>
  mcpTool(event({ ...(input === undefined ? {} : { input }), output: text }) as never);

describe("the arguments that event and stream tools take", () => {
  it.each([
    ["timeout_ms", wait(), -1],
    ["timeout_ms", wait(), 60_001],
    ["timeout_ms", wait(), 0.5],
    ["timeout_ms", wait(), "5"],
    ["timeout_ms", wait(), null],
    ["since", wait(), 5],
    ["since", wait(), null],
    ["max_items", pull(), 0],
    ["max_items", pull(), 1001],
    ["max_items", pull(), []],
    ["wait_ms", pull(), -1],
    ["wait_ms", pull(), 60_001],
    ["wait_ms", pull(), true],
  ])("decode() refuses %s with its path when it is out of range", async (...row) => {
    const [name, member, value] = row;
    const tool = toolOf(member);
    expect(thrownBy(() => tool.input.decode({ [name]: value }))).toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: name }],
    });
    expect(await callTool(tool, { [name]: value })).toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: name }],
    });
  });

  it("decode() takes the ends of each range, and has defaults", () => {
    const ends = { timeout_ms: 0 };
    expect(toolOf(wait()).input.decode(ends)).toMatchObject({ timeoutMs: 0, since: undefined });
    expect(toolOf(wait()).input.decode({ timeout_ms: 60_000, since: "c" })).toMatchObject({ since: "c" });
    expect(toolOf(wait()).input.decode({})).toMatchObject({ timeoutMs: 25_000 });
    expect(toolOf(pull()).input.decode({})).toMatchObject({ maxItems: 20, waitMs: 1000 });
    expect(toolOf(pull()).input.decode({ max_items: 1000, wait_ms: 0 })).toMatchObject({ maxItems: 1000, waitMs: 0 });
  });

  it("run() hands on an input that is no object, which travels under value beside them", async () => {
    const tool = toolOf(pull(z.array(text)), echo);
    expect(tool.input.json).toMatchObject({ required: ["value"] });
    expect(Object.keys(tool.input.json["properties"] ?? {})).toEqual(["value", "max_items", "wait_ms"]);
    expect(await answerOf(tool, { value: ["a"], max_items: 1 })).toEqual({ items: ['["a"]'], ended: false });
    expect(await callTool(tool, { value: [1] })).toMatchObject({ issues: [{ path: "value.0" }] });
    expect(await callTool(tool, { value: ["a"], wait_ms: -1 })).toMatchObject({ issues: [{ path: "wait_ms" }] });
  });

  it.each<[string, z.ZodType, JsonObject]>([
    ["a strict object", z.strictObject({ node: text }), { node: "a" }],
    ["a union of strict objects", strictUnion(), { k: "b", n: 1 }],
    ["an intersection", z.intersection(z.object({ a: text }), z.object({ b: text })), { a: "1", b: "2" }],
    ["a record by known keys", z.partialRecord(z.enum(["a", "b"]), text), { a: "1" }],
  ])("run() splits them off before %s is validated", async (_what, input, args) => {
    const tool = toolOf(pull(input), echo);
    const answer = await answerOf(tool, { ...args, max_items: 1, wait_ms: 5000 });
    expect(answer).toEqual({ items: [JSON.stringify(args)], ended: false });
  });

  it("the advertised schema has them beside the fields of all alternatives, and among closed names", () => {
    const { json } = toolOf(wait(strictUnion())).input;
    expect(json).toMatchObject({ additionalProperties: false, properties: { k: {}, since: {}, timeout_ms: {} } });
    expect(Object.keys(json)).not.toContain("anyOf");
    const names = toolOf(pull(z.partialRecord(z.enum(["a"]), text))).input.json["propertyNames"];
    expect(names).toMatchObject({ anyOf: [{ enum: ["a"] }, { enum: ["max_items", "wait_ms"] }] });
  });

  it("the member's own schema is not changed by them", () => {
    const input = strictUnion();
    const before = JSON.stringify(toolOf(wait(input)).input.json);
    expect(JSON.stringify(toolOf(pull(input)).input.json)).not.toContain("since");
    expect(JSON.stringify(toolOf(wait(input)).input.json)).toBe(before);
  });

  it("a wait never outlasts a deadline that the author set", () => {
    const tool = only(
      catalogOf({ probe: event({ output: text }) }, { expose: { probe: { tool: { timeoutMs: 5000 } } } }),
    );
    expect(tool.input.json).toMatchObject({ properties: { timeout_ms: { maximum: 5000, default: 5000 } } });
    expect(tool.timeoutMs).toBeGreaterThan(5000);
    expect(tool.input.decode({})).toMatchObject({ timeoutMs: 5000 });
    expect(thrownBy(() => tool.input.decode({ timeout_ms: 5001 }))).toMatchObject({ code: "VALIDATION_ERROR" });
  });
});

describe("a stream tool", () => {
  it("run() answers when its time is up although the stream is quiet and ignores its signal", async () => {
    const began = performance.now();
    const tool = toolOf(pull(), async function* () {
      yield "first";
      await new Promise(() => {});
    });
    expect(await answerOf(tool, { wait_ms: 200 })).toEqual({ items: ["first"], ended: false });
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it("run() tells the stream to end when it has enough", async () => {
    let ended: () => void = () => {};
    const over = new Promise<void>((resolve) => (ended = resolve));
    const tool = toolOf(pull(), async function* () {
      try {
        for (let n = 0; ; n += 1) yield String(n);
      } finally {
        ended();
      }
    });
    expect(await answerOf(tool, { max_items: 3, wait_ms: 20_000 })).toEqual({ items: ["0", "1", "2"], ended: false });
    await over;
  });

  it("run() fires the stream's signal when its time is up", async () => {
    let fired: () => void = () => {};
    const over = new Promise<void>((resolve) => (fired = resolve));
    const tool = toolOf(pull(), async function* (_input: unknown, { signal }: { readonly signal: AbortSignal }) {
      signal.addEventListener("abort", () => fired());
      yield "first";
      await new Promise(() => {});
    });
    expect(await answerOf(tool, { wait_ms: 200 })).toEqual({ items: ["first"], ended: false });
    await over;
  });

  it("run() says that the stream has ended when it has", async () => {
    const tool = toolOf(pull(), async function* () {
      yield "a";
    });
    expect(await answerOf(tool, { wait_ms: 20_000 })).toEqual({ items: ["a"], ended: true });
  });

  it("run() stops when the caller cancels", async () => {
    const call = new CallContext();
    const running = callTool(toolOf(pull(), echo), { wait_ms: 60_000 }, call);
    setImmediate(() => call.cancel());
    expect(await running).toMatchObject({ code: "ABORTED" });
  });
});

describe("an event tool", () => {
  it("run() answers interrupted, and what to do, when the application is restarted while it waits", async () => {
    const rooms = defineSurface("rooms", { rang: mcpTool(event({ output: text })) });
    const implement = () =>
      implementSurface(rooms, {
        async *rang(_input, { signal }) {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          yield "";
        },
      });
    const first = implement();
    const backend = flakyBackend(first);
    const client = createTestClient(mcp(rooms, { onFault: () => {} }).bridge(backend.link));
    const start = await client.tools.rang({ timeout_ms: 0 });
    const { cursor: since } = z.object({ cursor: text }).parse(start.isError || start.structured);
    const waits = Promise.all([client.tools.rang(), client.tools.rang({ since })]);
    await new Promise((resolve) => setImmediate(resolve));
    backend.down();
    const next = implement();
    backend.up(next);
    for (const answer of await waits) {
      assert(!answer.isError, "it failed");
      expect(answer.structured).toMatchObject({ status: "interrupted", reset: true });
      expect(answer.structured["hint"]).toContain("Read the state, then wait again");
    }
    const unknown = await client.tools.rang({ since: "x.1" });
    expect(unknown.isError || unknown.structured).toMatchObject({ status: "interrupted" });
    await client.close();
    await Promise.all([first.close(), next.close()]);
  });

  it("run() answers timed_out with a cursor, which the next wait goes on from", async () => {
    let fire: (value: string) => void = () => {};
    const tool = toolOf(wait(), async function* () {
      yield await new Promise<string>((resolve) => (fire = resolve));
      await new Promise(() => {});
    });
    const first = z.object({ status: text, cursor: text }).parse(await answerOf(tool, { timeout_ms: 0 }));
    expect(first.status).toBe("timed_out");
    fire("green");
    const second = await answerOf(tool, { since: first.cursor, timeout_ms: 20_000 });
    expect(second).toMatchObject({ status: "fired", occurrence: "green" });
  });
});

function strictUnion(): z.ZodType {
  return z.discriminatedUnion("k", [
    z.strictObject({ k: z.literal("a"), x: text }),
    z.strictObject({ k: z.literal("b"), n: z.number() }),
  ]);
}

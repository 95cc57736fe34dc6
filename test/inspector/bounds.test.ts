import * as fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { cell, cellSource, defineSurface, mcp, mcpResource, operationRegistry } from "../../src/index.ts";
import type { Observation } from "../../src/observe/observation.ts";
import { Inspector } from "../../src/inspector/inspector.ts";
import { kInspected, type InspectedApp } from "../../src/mcp/inspected-app.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import { ManualClock } from "../links/manual-clock.ts";
import { createObservedApp } from "../observe/observed-app.ts";

function inspectedOf(app: ServableApp): InspectedApp {
  const inspected = app[kInspected];
  if (inspected === undefined) throw new Error("cannot be inspected");
  return inspected;
}

function open(history?: number) {
  const { app } = createObservedApp();
  const clock = new ManualClock();
  const faults: unknown[] = [];
  const inspected = inspectedOf(app);
  const inspector = new Inspector(inspected, { clock, history, report: ({ cause }) => faults.push(cause) });
  const tell = (record: Observation): void => inspected.parts.observers.tell(record);
  return { inspector, clock, tell, faults };
}

const caller = { id: "ann", isAnonymous: false };
const origin = { transport: "http", caller, view: "default" } as const;

function ended(id: number, ms: number, tool = "echo"): Observation {
  return {
    ...{ type: "request-end", at: Date.now(), id: `r-${id}`, rpcId: id, method: "tools/call", ms, outcome: "ok" },
    ...{ ...origin, operation: { kind: "tool", id: tool, name: tool, mutates: false } },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the history of an inspector", () => {
  it("keeps the newest rows, and pages through all of them once", () => {
    const { inspector, tell } = open(100_000);
    for (let id = 1; id <= 120_000; id += 1) tell(ended(id, 1, id % 1000 === 0 ? "rare" : "echo"));
    expect(inspector.snapshot()).toMatchObject({ oldest: 20_001 });
    expect(inspector.snapshot().history).toHaveLength(100);
    const seen: number[] = [];
    let before: number | undefined;
    do {
      const page = inspector.history({ tool: "rare", limit: 30, before });
      seen.push(...page.rows.map(({ seq }) => seq));
      ({ before } = page);
    } while (before !== undefined);
    expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => 120_000 - index * 1000));
    expect(inspector.history({ caller: "nobody" })).toEqual({ rows: [] });
    inspector.close();
  });

  it("has no more than 100 new rows in an update", async () => {
    const { inspector, tell, clock } = open();
    const sizes: number[] = [];
    inspector.subscribe((json) => sizes.push(Object(JSON.parse(json)).history?.length ?? 0));
    await clock.pass(100);
    for (let id = 1; id <= 5000; id += 1) tell(ended(id, 1));
    await clock.pass(100);
    expect(sizes.at(-1)).toBe(100);
    inspector.close();
  });
});

describe("the totals of an inspector", () => {
  it("are right within a tenth, by second and by tool", async () => {
    const { inspector, tell, clock } = open();
    for (let id = 1; id <= 100; id += 1) tell(ended(id, id === 100 ? 500 : 10));
    await clock.pass(1000);
    tell(ended(101, 1));
    const { seconds, tools } = inspector.snapshot();
    expect(seconds.map(({ calls }) => calls)).toEqual([100, 1]);
    expect((seconds[1]?.at ?? 0) - (seconds[0]?.at ?? 0)).toBe(1000);
    expect(Math.abs((seconds[0]?.p50 ?? 0) - 10)).toBeLessThan(1);
    expect(tools.rows).toMatchObject([{ tool: "echo", calls: 101, failed: 0 }]);
    await clock.pass(200_000);
    expect(inspector.snapshot().seconds).toEqual([]);
    inspector.close();
  });

  it("bound the number of tools, and sum up the others", () => {
    const { inspector, tell } = open();
    for (let id = 0; id < 3000; id += 1) tell(ended(id, 1, `tool-${id}`));
    const { rows, more } = inspector.snapshot().tools;
    expect(rows[0]).toMatchObject({ tool: "…", calls: 2000 });
    expect(rows.length + more).toBe(1001);
    inspector.close();
  });

  it.each([-3_600_000, 3_600_000])("stay in order when the clock of the machine jumps by %d ms", async (jump) => {
    const { inspector, tell, clock } = open();
    tell(ended(1, 1));
    await clock.pass(2000);
    const now = Date.now();
    vi.spyOn(Date, "now").mockReturnValue(now + jump);
    tell(ended(2, 1));
    const { seconds, at } = inspector.snapshot();
    const [first, second] = seconds.map((each) => each.at);
    expect((second ?? 0) - (first ?? 0)).toBe(2000);
    expect(Math.abs(at - (second ?? 0))).toBeLessThan(3000);
    inspector.close();
  });
});

describe("any records", () => {
  const text = fc.oneof(fc.string(), fc.constantFrom("x".repeat(10_000), "\u202eabc\u0000\n", "__proto__"));
  const record = fc.record({
    type: fc.constantFrom(
      ...["request-start", "request-end", "call-start", "call-end", "refused", "question-asked", "question-answered"],
      ...["session-start", "session-end", "stream-start", "stream-end", "link-up", "link-down", "mount-change"],
    ),
    at: fc.oneof(fc.integer(), fc.constant(Number.NaN)),
    id: fc.constantFrom("1", "2", "3.1", ""),
    parent: text,
    method: fc.constantFrom("tools/call", "tools/list", "unknown"),
    transport: fc.constant("http"),
    caller: fc.record({ id: text, isAnonymous: fc.boolean() }),
    client: fc.option(fc.record({ name: text, version: text }), { nil: undefined }),
    view: text,
    session: fc.option(fc.constantFrom("s1", "s2"), { nil: undefined }),
    operation: fc.option(fc.record({ kind: fc.constant("tool"), id: text, mutates: fc.boolean() }), { nil: undefined }),
    outcome: fc.constantFrom("ok", "failed", "refused", "asked", "cancelled", "closed"),
    stage: fc.constantFrom("head", "token"),
    ms: fc.oneof(fc.double(), fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY)),
    code: fc.option(text, { nil: undefined }),
    kind: fc.constant("elicit"),
    isConfirmation: fc.boolean(),
    arguments: fc.option(fc.jsonValue() as fc.Arbitrary<unknown>, { nil: undefined }),
    result: fc.option(fc.jsonValue() as fc.Arbitrary<unknown>, { nil: undefined }),
  });

  it("throw nothing, and give JSON of bounded size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 200 }), async (records) => {
        const { inspector, tell, clock, faults } = open(50);
        const texts: string[] = [];
        inspector.subscribe((json) => texts.push(json));
        // Records of any shape.
        for (const one of records) tell(one as unknown as Observation);
        await clock.pass(100);
        for (const json of [...texts, JSON.stringify(inspector.snapshot())]) {
          JSON.parse(json);
          expect(json.length).toBeLessThan(1_000_000);
          expect(json).not.toMatch(/\\u0000|\u202e/);
        }
        expect(faults).toEqual([]);
        inspector.close();
      }),
      { numRuns: 30 },
    );
  });
});

describe("the exposure of 10,000 mounted tools", () => {
  it("is computed once until a tool comes, or a rule changes", async () => {
    const registry = operationRegistry();
    const input = z.object({ a: z.string() });
    const add = (name: string): void => {
      registry.register({ name, description: "x".repeat(200), inputSchema: input }, () => 1);
    };
    const surface = defineSurface("many", { level: mcpResource(cell({ schema: z.int() })) });
    const app = mcp(surface)
      .implement({ level: cellSource(1) })
      .mount("ops", registry)
      .views({ some: { disallow: ["ops_1*"] }, gate: { face: "gateway" } });
    for (let index = 0; index < 10_000; index += 1) add(`op${index}`);
    const runtime = app.open();
    const inspector = new Inspector(inspectedOf(app), { report: () => {} });
    const first = inspector.exposure();
    expect(first.entries).toHaveLength(10_001);
    expect(first.views).toHaveLength(3);
    expect(inspector.exposure()).toBe(first);
    add("one-more");
    expect(inspector.exposure().version).not.toBe(first.version);
    expect(inspector.exposure().entries).toHaveLength(10_002);
    await runtime.close();
    expect(inspector.exposure().entries).toEqual([]);
    inspector.close();
  });
});

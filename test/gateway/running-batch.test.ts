import { afterEach, expect, it } from "vitest";
import {
  cellSource,
  defineSurface,
  mcp,
  mcpTool,
  operationRegistry,
  procedure,
  readOnly,
  type ViewRule,
} from "../../src/index.ts";
import { createTestClient } from "../../src/testing/index.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const surface = defineSurface("ci", { open: readOnly(mcpTool(procedure({}))) });
const gateway = { kind: "tool_surface", face: "gateway" } as const;
const shown: readonly ViewRule[] = [{ verdict: gateway }];

/** Runs a batch of two, with other rules from the time on at which the first runs. */
async function runWhile(rulesThen: readonly ViewRule[]): Promise<{ ran: boolean; answer: unknown }> {
  const rules = cellSource(shown);
  const registry = operationRegistry();
  let ran = false;
  registry.register({ name: "slow" }, () => rules.set(rulesThen));
  registry.register({ name: "wipe" }, () => void (ran = true));
  const app = mcp(surface, { onFault: () => {} })
    .implement({ open: () => undefined })
    .mount("hub", registry)
    .views(rules);
  const client = createTestClient(app);
  closing.push(() => client.close());
  const calls = [{ tool: "hub.slow" }, { tool: "hub.wipe" }];
  const answer = await client.request("tools/call", { name: "call", arguments: { calls } });
  return { ran, answer };
}

it.each<[string, readonly ViewRule[]]>([
  ["let nobody in", [{ verdict: { kind: "deny", reason: "locked" } }]],
  ["hide the next operation", [{ verdict: { ...gateway, disallow: ["hub.wipe"] } }]],
  ["show only what reads, by another face", [{ verdict: { kind: "tool_surface", readOnly: true } }]],
])(
  "A batch that runs begins nothing more that its caller may not call any more when the rules %s",
  async (_how, then) => {
    const { ran, answer } = await runWhile(then);
    expect(ran).toBe(false);
    expect(answer).toMatchObject({
      structuredContent: { results: [{ success: true }, { success: false, error: { code: "OPERATION_NOT_FOUND" } }] },
    });
  },
);

it("A batch that runs goes on when other rules show its caller the same, whatever else they say", async () => {
  const other: ViewRule = { when: { surface: "other" }, verdict: { kind: "deny", reason: "no" } };
  expect((await runWhile([other, { verdict: { ...gateway, instructions: "new" } }])).ran).toBe(true);
  expect((await runWhile([other, ...shown])).ran).toBe(true);
});

it("A batch that runs says beside its answer what each of its calls said beside theirs, by where its result stands", async () => {
  const registry = operationRegistry();
  for (const name of ["one", "two"]) {
    registry.register({ name }, (_input, { addMeta }) => {
      addMeta({ "x/run": name, "x/more": 1 });
      addMeta({ "x/more": 2 });
    });
  }
  registry.register({ name: "none" }, () => 1);
  const app = mcp(surface, { onFault: () => {} })
    .implement({ open: () => undefined })
    .mount("hub", registry)
    .views(cellSource(shown));
  const client = createTestClient(app);
  closing.push(() => client.close());
  const run = async (...names: readonly string[]): Promise<unknown> => {
    const calls = names.map((name) => ({ tool: `hub.${name}` }));
    return (await client.request("tools/call", { name: "call", arguments: { calls } }))["_meta"];
  };
  const said = (name: string) => ({ "x/run": name, "x/more": 2 });
  expect(await run("one", "none", "two")).toEqual({ "surface-mcp/results": { 0: said("one"), 2: said("two") } });
  expect(await run("two")).toEqual(said("two"));
});

it.each(["legacy", "modern"] as const)(
  "A batch that runs has its user confirm all of it first, and then runs in order, for a client of the %s era",
  async (era) => {
    const steps: string[] = [];
    const registry = operationRegistry();
    for (const name of ["one", "two", "three"]) registry.register({ name }, () => void steps.push(name));
    const app = mcp(surface, { onFault: () => {} })
      .implement({ open: () => undefined })
      .mount("hub", registry)
      .confirm("mutating")
      .views(cellSource(shown));
    const elicit = ({ message }: { readonly message: string }): boolean => {
      steps.push(message);
      return !message.includes("two");
    };
    const client = createTestClient(app, { era, elicit });
    closing.push(() => client.close());
    const calls = ["one", "two", "three"].map((name) => ({ tool: `hub.${name}` }));
    const answer = await client.request("tools/call", { name: "call", arguments: { calls } });
    expect(answer).toMatchObject({
      structuredContent: { results: [{ success: true }, { error: { code: "DECLINED" } }, { success: true }] },
    });
    expect(steps).toEqual(['Run "hub_one"?', 'Run "hub_two"?', 'Run "hub_three"?', "one", "three"]);
  },
);

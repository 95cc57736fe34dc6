import { describe, expect, it } from "vitest";
import { z } from "zod";
import { kDefinition } from "../../src/builder/app-definition.ts";
import { mcp } from "../../src/builder/mcp.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { event, procedure, stream } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { createTestClient, type TestClient } from "../../src/testing/index.ts";
import { thrownBy } from "../catalog/support.ts";
import { deadLink } from "./support.ts";

const surface = defineSurface("asked", {
  write: mcpTool(procedure({})),
  look: readOnly(mcpTool(procedure({}))),
  free: mcpTool(procedure({}), { confirm: false }),
  always: readOnly(mcpTool(procedure({}), { confirm: true })),
  plain: procedure({}),
});

/** How often each was run. */
function counted() {
  const ran: string[] = [];
  const run = (name: string) => () => void ran.push(name);
  const handlers = {
    write: run("write"),
    look: run("look"),
    free: run("free"),
    always: run("always"),
    plain: run("plain"),
  };
  return { ran, app: mcp(surface, { onFault: () => {} }).implement(handlers) };
}

/** What a client that cannot ask its user is told of each tool. */
async function toldOf<TSpec, TTools extends string>(
  client: Pick<TestClient<never, TSpec>, "close"> & { tools: Record<TTools, () => Promise<object>> },
  names: readonly TTools[],
): Promise<unknown[]> {
  try {
    const told: unknown[] = [];
    for (const name of names) {
      const answer = await client.tools[name]();
      told.push("code" in answer ? answer.code : "ran");
    }
    return told;
  } finally {
    await client.close();
  }
}

/** A stage as one who casts sees it. */
interface AnyStage {
  confirm(which?: unknown, options?: unknown): AnyStage;
}
// Every stage is one class: what its type hides is there.
const anyStage = (stage: unknown): AnyStage => stage as AnyStage;

// Where a refusal is a tool's answer: from 2026-07-28 on this one is an error of the protocol.
const legacy = { era: "legacy" } as const;

const all = ["write", "look", "free", "always"] as const;

describe("the arguments in a question", () => {
  const Given = z.object({ amount: z.bigint(), force: z.boolean().default(true) });
  const bank = defineSurface("bank", {
    pay: mcpTool(procedure({ input: Given }), { confirm: true }),
    rates: mcpTool(stream({ input: Given, output: z.number() }), { confirm: true }),
    paid: mcpTool(event({ input: Given, output: z.number() }), { confirm: true }),
  });

  async function* none(): AsyncGenerator<number> {}

  it.each(["pay", "rates", "paid"])("are the validated input of the member: %s", async (name) => {
    const app = mcp(bank).implement({ pay: () => undefined, rates: none, paid: none });
    const read: string[] = [];
    const client = createTestClient(app, { elicit: ({ message }) => (read.push(message), { action: "decline" }) });
    await client.request("tools/call", { name, arguments: { amount: "5", dryRun: true } });
    await client.close();
    expect(read).toEqual([`Run "${name}"?\namount: "5"\nforce: true`]);
  });
});

describe.each(["legacy", "modern"] as const)("a member whose schema returns a new default each time, %s", (era) => {
  it("is refused, and does not run", async () => {
    let count = 0;
    const fields = z.object({ id: z.number().default(() => (count += 1)) });
    const shop = defineSurface("shop", { order: mcpTool(procedure({ input: fields }), { confirm: true }) });
    const ran: unknown[] = [];
    const app = mcp(shop).implement({ order: (input) => void ran.push(input) });
    const client = createTestClient(app, { era, elicit: () => ({ action: "accept", content: {} }) });
    expect(await client.tools.order({})).toMatchObject({ isError: true, code: "ASK_FAILED" });
    expect(ran).toEqual([]);
    expect(await client.tools.order({ id: 7 })).toMatchObject({ isError: false });
    expect(ran).toEqual([{ id: 7 }]);
    await client.close();
  });
});

describe("confirm()", () => {
  it("refuses clients that cannot ask for every mutating tool without its own option, and runs none", async () => {
    const { app, ran } = counted();
    const told = await toldOf(createTestClient(app.confirm("mutating"), legacy), all);
    expect(told).toEqual(["CLIENT_CANNOT", "ran", "ran", "CLIENT_CANNOT"]);
    expect(ran).toEqual(["look", "free"]);
  });

  it("refuses them with the protocol's own error from 2026-07-28 on", async () => {
    const { app, ran } = counted();
    const client = createTestClient(app.confirm("mutating"), { era: "modern" });
    await expect(client.request("tools/call", { name: "write" })).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    await client.close();
    expect(ran).toEqual([]);
  });

  it("allows them if its options say so, except for tools with another option", async () => {
    const { app, ran } = counted();
    const told = await toldOf(createTestClient(app.confirm("mutating", { otherwise: "allow" }), legacy), all);
    expect(told).toEqual(["ran", "ran", "ran", "CLIENT_CANNOT"]);
    expect(ran).toEqual(["write", "look", "free"]);
  });

  it("follows the options of tools without an option of the app", async () => {
    const { app } = counted();
    expect(await toldOf(createTestClient(app, legacy), all)).toEqual(["ran", "ran", "ran", "CLIENT_CANNOT"]);
  });

  it("takes it of exposed members and of tools by hand as of tags", async () => {
    const { app, ran } = counted();
    const more = app
      .expose({ plain: { tool: { confirm: true } } })
      .tools({ hand: { confirm: { otherwise: "allow" }, handler: () => 1 }, ask: { confirm: true, handler: () => 1 } });
    const told = await toldOf(createTestClient(more, legacy), ["plain", "hand", "ask"]);
    expect(told).toEqual(["CLIENT_CANNOT", "ran", "CLIENT_CANNOT"]);
    expect(ran).toEqual([]);
  });

  it("applies from any step on, and does not change the app before", () => {
    const unlinked = mcp(surface);
    expect(unlinked.confirm("mutating").bridge(deadLink())[kDefinition].confirm).toBe("refuse");
    const { app } = counted();
    expect(app.tools({}).confirm("mutating", { otherwise: "allow" })[kDefinition].confirm).toBe("allow");
    expect(app.confirm("mutating", {})[kDefinition].confirm).toBe("refuse");
    expect(app[kDefinition].confirm).toBeUndefined();
  });

  it.each<[string, () => unknown, string]>([
    ["nothing", () => anyStage(counted().app).confirm(), 'must be "mutating"'],
    ["everything", () => anyStage(counted().app).confirm("all"), 'must be "mutating"'],
    ["options that are none", () => anyStage(counted().app).confirm("mutating", true), "must be an object"],
    ["a list of options", () => anyStage(counted().app).confirm("mutating", []), "must be an object"],
    ["null", () => anyStage(counted().app).confirm("mutating", null), "must be an object"],
    ["an unknown option", () => anyStage(counted().app).confirm("mutating", { or: 1 }), '"or" is not an option'],
    ["another fate", () => anyStage(counted().app).confirm("mutating", { otherwise: "ask" }), '"refuse" or "allow"'],
    ["a second one", () => anyStage(counted().app.confirm("mutating")).confirm("mutating"), "it was called already"],
  ])("confirm() refuses %s", (_what, attempt, words) => {
    expect(thrownBy(attempt)).toMatchObject({ code: "INVALID_OPTION", message: expect.stringContaining(words) });
  });
});

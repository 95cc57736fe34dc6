import { describe, expect, it } from "vitest";
import { mcpAgentic, type McpAgenticOptions } from "../../../src/builder/mcp-agentic.ts";
import { mcp } from "../../../src/builder/mcp.ts";
import { agenticService } from "../../../src/from/agentic/agentic-service.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { agentKinds, outcomeOf, type Agent, type AgentKind } from "../../scenarios/support/clients.ts";
import { serveForTest } from "../../scenarios/support/serve.ts";
import { act, stage, state, type Staged } from "./support.ts";

const number = { type: "number" };

function game(): Staged {
  return stage({
    name: "game",
    actions: {
      move: {
        description: "Moves on",
        schema: {
          type: "object",
          properties: { to: { type: "string" } },
          required: ["to"],
          additionalProperties: false,
        },
      },
      heal: { description: "Heals", parameters: [number] },
      add: { description: "Adds", parameters: [number, number], execute: (a: number, b: number) => ({ sum: a + b }) },
      look: act("Looks"),
    },
    states: { hp: state(3, number), mood: state({ of: "cat" }) },
    links: {},
    execute: async (action, input) => {
      if (action === "look") return input === undefined ? undefined : "looked at something";
      if (action === "heal") return input === 5 ? { healed: 5 } : "no mana";
      throw new Error("a secret of the game");
    },
  });
}

interface Play {
  readonly staged: Staged;
  readonly agent: Agent;
  readonly faults: readonly Fault[];
}

async function play(kind: AgentKind, options: McpAgenticOptions = {}, staged: Staged = game()): Promise<Play> {
  const faults: Fault[] = [];
  const app = mcpAgentic(staged.service, { onFault: (fault) => void faults.push(fault), ...options });
  const { enter } = await serveForTest(app);
  return { staged, agent: await enter(kind), faults };
}

/** How often something was told. */
async function counting(follow: (told: () => void) => Promise<unknown>): Promise<() => number> {
  let count = 0;
  await follow(() => (count += 1));
  return () => count;
}

describe.each(agentKinds)("an agentic service over HTTP with $name", (kind) => {
  it("A3 and A4 lists its actions by name, sorted, each with an object to take", async () => {
    const { agent } = await play(kind);
    const { tools } = await agent.toolListing();
    expect(tools).toMatchObject([
      { name: "add", description: "Adds", inputSchema: { type: "object", required: ["arg0", "arg1"] } },
      { name: "heal", description: "Heals", inputSchema: { type: "object", properties: { value: number } } },
      { name: "look", description: "Looks", inputSchema: { type: "object" } },
      { name: "move", description: "Moves on", inputSchema: { type: "object", required: ["to"] } },
    ]);
  });

  it("A5 has an empty list before the first announcement, and notifies of the first one", async () => {
    const { agent, staged } = await play(kind, {}, stage());
    expect(await agent.tools()).toEqual([]);
    const told = await counting((changed) => agent.onTools(changed));
    staged.actions.tell({ heal: act() });
    await expect.poll(told).toBe(1);
    expect(await agent.tools()).toEqual(["heal"]);
  });

  it("A6 notifies once when all tools are renamed in one tick, and not when they are equal", async () => {
    const { agent, staged } = await play(kind);
    await agent.tools();
    const told = await counting((changed) => agent.onTools(changed));
    for (let at = 0; at < 1000; at += 1) staged.actions.tell({ ...staged.actions.value });
    for (let at = 0; at < 1000; at += 1) staged.actions.tell({ [`a${at}`]: act(), [`b${at}`]: act() });
    await expect.poll(told).toBe(1);
    expect(await agent.tools()).toEqual(["a999", "b999"]);
    staged.actions.tell({ b999: act(), a999: act() });
    staged.actions.tell({ last: act() });
    await expect.poll(told).toBe(2);
  });

  it("A7 answers a call of a removed action as one of an unknown tool, and does not run it", async () => {
    const { agent, staged } = await play(kind);
    await agent.tools();
    staged.actions.tell({ look: act() });
    await expect.poll(() => agent.tools()).toEqual(["look"]);
    const gone = await outcomeOf(agent.call("heal", { value: 5 }), "heal");
    expect(gone).toBe(await outcomeOf(agent.call("never", { value: 5 }), "never"));
    await expect(agent.call("heal", { value: 5 })).rejects.toMatchObject({ code: -32602 });
    expect(staged.ran).toEqual([]);
  });

  it("A8 answers undefined with an empty text, a text as an error, data as data, and an error with its name", async () => {
    const { agent, faults } = await play(kind);
    const nothing = await agent.call("look");
    expect(nothing).toMatchObject({ content: [{ type: "text", text: "" }] });
    expect([nothing["isError"] ?? false, "structuredContent" in nothing]).toEqual([false, false]);
    expect(await agent.call("heal", { value: 1 })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "no mana" }],
    });
    expect(await agent.call("heal", { value: 5 })).toMatchObject({
      structuredContent: { healed: 5 },
      content: [{ type: "text", text: '{"healed":5}' }],
    });
    expect(await agent.call("add", { arg0: 1, arg1: 2 })).toMatchObject({ structuredContent: { sum: 3 } });
    const thrown = await agent.call("move", { to: "cave" });
    expect(thrown["isError"]).toBe(true);
    expect(JSON.stringify(thrown)).toContain(String(faults[0]?.correlationId));
    expect(JSON.stringify(thrown)).not.toContain("secret");
  });

  it("A9 refuses invalid input, with its path, before the action runs", async () => {
    const { agent, staged } = await play(kind);
    for (const [name, args, path] of [
      ["heal", { value: "five" }, "value"],
      ["add", { arg0: 1 }, "arg1"],
      ["move", { to: 7 }, "to"],
    ] as const) {
      const answer = await agent.call(name, args);
      expect(answer["isError"]).toBe(true);
      expect(JSON.stringify(answer["content"])).toContain(path);
    }
    expect(staged.ran).toEqual([]);
  });

  it("A10 answers in the service's own words when an action cannot be done any more, and is listed still", async () => {
    const staged = stage({ actions: { heal: act() }, execute: (name) => `Action "${name}" is not available` });
    const { agent } = await play(kind, {}, staged);
    expect(await agent.call("heal")).toMatchObject({
      isError: true,
      content: [{ type: "text", text: 'Action "heal" is not available' }],
    });
  });

  it("A11 has its states as resources under the name of the service if the option is set", async () => {
    const { agent } = await play(kind, { states: "resource" });
    expect(await agent.resources()).toEqual(["surface://game/state/hp", "surface://game/state/mood"]);
    expect(await agent.read("surface://game/state/mood")).toMatchObject({
      contents: [{ uri: "surface://game/state/mood", mimeType: "application/json", text: '{"of":"cat"}' }],
    });
  });

  it("A12 and A14 notifies subscribers of a state of its changes, and of no others", async () => {
    const { agent, staged } = await play(kind, { states: "resource", changeWindowMs: 0 });
    const told = await counting((updated) => agent.watch("surface://game/state/hp", updated));
    const tell = (hp: number, mood: string): void => {
      staged.states.tell({ hp: state(hp, number), mood: state({ of: mood }) });
    };
    tell(3, "dog");
    tell(4, "dog");
    await expect.poll(told).toBe(1);
    expect(await agent.read("surface://game/state/hp")).toMatchObject({ contents: [{ text: "4" }] });
    tell(4, "cat");
    tell(5, "cat");
    await expect.poll(told).toBe(2);
  });

  it("A12 answers a read of a hidden state as one of an unknown resource", async () => {
    const { agent, staged } = await play(kind, { states: "resource" });
    await agent.resources();
    staged.states.tell({ mood: state(1) });
    await expect.poll(() => agent.resources()).toEqual(["surface://game/state/mood"]);
    const hidden = await outcomeOf(agent.read("surface://game/state/hp"), "hp");
    expect(hidden).toBe(await outcomeOf(agent.read("surface://game/state/never"), "never"));
    expect(hidden).toContain("Resource not found");
    // The older SDK shows the code that its era has for this.
    const code = kind.name === "SDK 1.x" ? -32002 : -32602;
    await expect(agent.read("surface://game/state/hp")).rejects.toMatchObject({
      code,
      data: { uri: "surface://game/state/hp" },
    });
  });

  it("A13 answers with the states by a tool if the option is set", async () => {
    const { agent } = await play(kind, { states: "tool" });
    expect(await agent.call("get_state", { keys: ["hp"] })).toMatchObject({ structuredContent: { hp: 3 } });
    expect(await agent.call("get_state")).toMatchObject({ structuredContent: { hp: 3, mood: { of: "cat" } } });
    const unknown = await agent.call("get_state", { keys: ["hp", "mana"] });
    expect(unknown["isError"]).toBe(true);
    expect(JSON.stringify(unknown["content"])).toContain("mana");
  });

  it("A15 and A16 shows the services behind links, and notifies once when they lead elsewhere", async () => {
    const { agent, staged } = await play(kind, { states: "resource", links: true, listLinks: true });
    await agent.tools();
    const told = await counting((changed) => agent.onTools(changed));
    const cat = stage({ name: "cat", actions: { pet: act() }, states: { mood: state("wary") }, links: {} });
    cat.links.tell({ parent: staged.service });
    staged.links.tell({ cat: cat.service });
    await expect.poll(told).toBe(1);
    expect(await agent.tools()).toEqual(["add", "cat_pet", "heal", "list_links", "look", "move"]);
    expect(await agent.resources()).toContain("surface://game/cat/state/mood");
    await agent.call("cat_pet");
    expect(cat.ran).toEqual([["pet", undefined]]);
    // A17, A18
    expect(await agent.call("list_links")).toMatchObject({
      structuredContent: {
        links: [
          { path: "cat", target: "cat" },
          { path: "cat.parent", target: "game", cycleTo: "" },
        ],
      },
    });
    staged.links.tell({});
    await expect.poll(told).toBe(2);
    expect(await agent.tools()).not.toContain("cat_pet");
    expect([cat.actions.ended, cat.states.ended, cat.links.ended]).toEqual([1, 1, 1]);
  });

  it("A19 lists actions with invalid keys under valid names, and leaves out duplicates", async () => {
    const child = stage({ actions: { heal: act("the child's") } });
    const keys = ["do it!", "child_heal", "__proto__", "", "ü", "x".repeat(300)];
    const actions = Object.fromEntries(keys.map((key) => [key, act(key)]));
    const staged = stage({ actions, links: { child: child.service } });
    const { agent, faults } = await play(kind, { links: true }, staged);
    const names = ["__proto__", "_x00_", "_xfc_", "child_heal", "do_x20_it_x21_"];
    expect(await agent.tools()).toEqual(names);
    for (const name of names) await agent.call(name);
    expect(staged.ran.map(([key]) => key)).toEqual(["__proto__", "", "ü", "child_heal", "do it!"]);
    expect(faults.map(({ cause }) => String(cause))).toEqual([
      expect.stringMatching(/^SurfaceError: Cannot name operation "x+": "x+" must be letters/),
      'SurfaceError: Cannot name operation "child.heal": its wire name "child_heal" is taken by operation "child_heal"; it is left out',
    ]);
  });

  it("A20 leaves out an action with an unsupported schema, and lists the others", async () => {
    const bad = { description: "d", schema: { type: "object", nullable: true } };
    const staged = stage({ actions: { bad, good: { schema: { type: "blob", layout: "packed" } } } });
    const { agent, faults } = await play(kind, {}, staged);
    const { tools } = await agent.toolListing();
    expect(tools).toMatchObject([
      { name: "good", inputSchema: { properties: { value: { type: "string", contentEncoding: "base64" } } } },
    ]);
    expect(JSON.stringify(tools)).not.toContain("layout");
    expect(faults).toHaveLength(1);
  });
});

describe("an agentic service that is served", () => {
  it("A21 is observed once when many sessions use it, and not any more when it is closed", async () => {
    const staged = game();
    const app = mcpAgentic(staged.service, { states: "resource", links: true });
    const { enter, serving } = await serveForTest(app);
    for (const kind of [...agentKinds, ...agentKinds]) {
      const agent = await enter(kind);
      await agent.tools();
      await agent.watch("surface://game/state/hp", () => {});
      await agent.close();
    }
    const { actions, states, links } = staged;
    expect([actions.opened, states.opened, links.opened]).toEqual([1, 1, 1]);
    await serving.close();
    expect([actions.ended, states.ended, links.ended]).toEqual([1, 1, 1]);
  });

  it.each(agentKinds)("is under its prefix when it is mounted beside a surface, as $name sees it", async (kind) => {
    const staged = game();
    const surface = defineSurface("world", { rest: mcpTool(procedure({})) });
    const app = mcp(surface)
      .implement({ rest: () => {} })
      .mount("game", agenticService(staged.service, { states: "resource", links: true }))
      .pull();
    const agent = await (await serveForTest(app)).enter(kind);
    expect(await agent.tools()).toContain("game_heal");
    expect(await agent.resources()).toEqual(["surface://world/game/state/hp", "surface://world/game/state/mood"]);
    expect(await agent.call("read_resource", { uri: "surface://world/game/state/hp" })).toMatchObject({
      structuredContent: { value: 3 },
    });
    staged.states.tell({ hp: state(9) });
    await expect.poll(() => agent.resources()).toEqual(["surface://world/game/state/hp"]);
    expect(await agent.read("surface://world/game/state/hp")).toMatchObject({ contents: [{ text: "9" }] });
  });

  it("asks the user before an action runs when its author says so", async () => {
    const [kind] = agentKinds;
    if (kind === undefined) throw new Error("there are clients");
    const staged = game();
    const describeAction = (action: string) => (action === "heal" ? { confirm: true } : undefined);
    const { enter } = await serveForTest(mcpAgentic(staged.service, { describe: describeAction }));
    // These clients cannot ask theirs.
    const agent = await enter(kind);
    expect(await agent.call("heal", { value: 5 })).toMatchObject({ isError: true });
    expect(staged.ran).toEqual([]);
    expect(await agent.call("look")).not.toMatchObject({ isError: true });
  });

  it("A22 stands beside another under its name when there are several", async () => {
    const [kind] = agentKinds;
    if (kind === undefined) throw new Error("there are clients");
    const town = stage({ name: "town", actions: { build: act() }, states: { size: state(1) } });
    const { enter } = await serveForTest(
      mcpAgentic([game().service, town.service], { states: "resource", uriPrefix: "play://" }),
    );
    const agent = await enter(kind);
    expect(await agent.tools()).toEqual(["game_add", "game_heal", "game_look", "game_move", "town_build"]);
    expect(await agent.resources()).toContain("play://town/state/size");
    await agent.call("town_build");
    expect(town.ran).toEqual([["build", undefined]]);
  });
});

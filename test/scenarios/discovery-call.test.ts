import { describe, expect, it } from "vitest";
import { agentKinds, outcomeOf, type Agent } from "./support/clients.ts";
import { createHub, openOperations, type Hub } from "./support/hub-app.ts";
import { serveForTest, type Served } from "./support/serve.ts";
import { quiet, until } from "./support/until.ts";

type Json = Readonly<Record<string, unknown>>;

async function serveHub(): Promise<Hub & Served> {
  const hub = createHub();
  return { ...hub, ...(await serveForTest(hub.app)) };
}

/** What a tool answered; what its model reads has to be the same, to the letter. */
async function answerOf(agent: Agent, name: string, args: Json = {}): Promise<Json> {
  const answer = await agent.call(name, args);
  const [block]: readonly Json[] = [answer["content"]].flat().map((each) => ({ ...Object(each) }));
  expect(block?.["text"]).toBe(JSON.stringify(answer["structuredContent"]));
  return { ...Object(answer["structuredContent"]) };
}

function idsOf(listed: unknown): readonly string[] {
  return [listed].flat().map((each) => String(Object(each).tool));
}

/** What became of each call of a batch. */
async function batchOf(agent: Agent, calls: readonly Json[], more: Json = {}): Promise<readonly Json[]> {
  const { results } = await answerOf(agent, "call", { calls, ...more });
  return [results].flat().map((each) => ({ ...Object(each) }));
}

const four = ["call", "list", "schema", "search"];
const missing = {
  success: false,
  error: { code: "OPERATION_NOT_FOUND", message: "there is no operation of this name" },
};

describe.each(agentKinds)("an agent of a hub by $name", (kind) => {
  it("has four tools, byte for byte the same for any operations", async () => {
    const { enter, operations } = await serveHub();
    const agent = await enter(kind);
    expect(await agent.tools()).toEqual(four);
    const before = JSON.stringify(await agent.toolListing());
    expect(before.length).toBeLessThan(4096);
    for (let at = 0; at < 500; at += 1) {
      operations.register({ name: `many.nr_${at}`, type: "query", description: `Number ${at}` }, () => ({ at }));
    }
    expect(await answerOf(agent, "list", { limit: 1 })).toMatchObject({ total: openOperations.length + 500 });
    expect(JSON.stringify(await agent.toolListing())).toBe(before);
  });

  it("learns how to use them from the instructions and the descriptions of the tools", async () => {
    const { enter } = await serveHub();
    const agent = await enter(kind);
    expect(agent.instructions()).toBe("Search, read the schema, call.");
    const { tools } = await agent.toolListing();
    const inputs = [tools].flat().map((tool) => Object.keys(Object(tool).inputSchema.properties));
    expect(inputs.map((names) => names.toSorted())).toEqual([
      ["calls", "parallel"],
      ["cursor", "limit", "namespace"],
      ["tool"],
      ["limit", "namespace", "q"],
    ]);
  });

  it("lists all registered operations with their input and output", async () => {
    const { enter } = await serveHub();
    const { operations, total } = await answerOf(await enter(kind), "list");
    expect([idsOf(operations), total]).toEqual([openOperations, openOperations.length]);
    const spawn = [operations].flat().find((each) => Object(each).tool === "hub.coord.spawn");
    expect(spawn).toMatchObject({
      name: "spawn",
      namespace: "hub.coord",
      type: "mutation",
      description: "Spawns a session in a worktree of its own",
      tags: ["worktree"],
      inputSchema: { type: "object", required: ["sessionId", "task"] },
      outputSchema: { type: "object", required: ["spawned", "branch"] },
      errorSchemas: { BUSY: { type: "object" } },
    });
  });

  it("lists and searches one namespace, and finds nothing in an unknown one", async () => {
    const { enter } = await serveHub();
    const agent = await enter(kind);
    const coord = openOperations.filter((id) => id.startsWith("hub.coord."));
    expect(idsOf((await answerOf(agent, "list", { namespace: "hub.coord" }))["operations"])).toEqual(coord);
    const searched = await answerOf(agent, "search", { namespace: "hub.coord" });
    expect(idsOf(searched["tools"]).toSorted()).toEqual(coord);
    const { tools } = await answerOf(agent, "search", { namespace: "hub.coord", q: "session status" });
    expect([tools].flat().filter((tool) => !("partial" in Object(tool)))).toMatchObject([{ tool: "hub.coord.status" }]);
    expect(await answerOf(agent, "list", { namespace: "hub.coo" })).toEqual({ operations: [], total: 0 });
    expect(await answerOf(agent, "search", { namespace: "none" })).toEqual({ tools: [], total: 0 });
  });

  it.each([
    ["by name", "spawn", "hub.coord.spawn"],
    ["by its id", "hub.git.worktreeCreate", "hub.git.worktreeCreate"],
    ["by a part of its name", "worktree create", "hub.git.worktreeCreate"],
    ["by its description", "the web", "hub.websearch.query"],
    ["by its namespace", "WEBSEARCH searches", "hub.websearch.query"],
  ])("finds an operation %s when it searches for %s", async (_how, q, first) => {
    const { enter } = await serveHub();
    const { tools } = await answerOf(await enter(kind), "search", { q });
    const [best]: readonly Json[] = [tools].flat().map((each) => ({ ...Object(each) }));
    expect(best).toEqual({ tool: first, description: expect.any(String) });
  });

  it("goes from a search to a schema to a call, as the document's agent does", async () => {
    const { enter, ran } = await serveHub();
    const agent = await enter(kind);
    const found = await answerOf(agent, "search", { q: "spawn" });
    expect(found).toMatchObject({ tools: [{ tool: "hub.coord.spawn" }, { tool: "hub.coord.status" }] });
    expect(await answerOf(agent, "schema", { tool: "hub.coord.spawn" })).toMatchObject({
      inputSchema: { properties: { sessionId: {}, task: {}, branch: {} } },
      outputSchema: { properties: { spawned: {} } },
    });
    const input = { sessionId: "s1", task: "implement auth", branch: "feat/auth" };
    expect(await batchOf(agent, [{ tool: "hub.coord.spawn", input }])).toEqual([
      { success: true, result: { spawned: "s1", branch: "feat/auth" } },
    ]);
    expect(await batchOf(agent, [{ tool: "hub.coord.status", input: { parentSessionId: "s1" } }])).toEqual([
      { success: true, result: { sessions: ["s1.1"] } },
    ]);
    expect(ran).toEqual(["worktree feat/auth", "spawn s1", "status s1"]);
  });

  it("gets the results of a batch in order, errors beside successes", async () => {
    const { enter, ran } = await serveHub();
    const spawn = { tool: "hub.coord.spawn", input: { sessionId: "s", task: "t", branch: "taken" } };
    const message = (to: string): Json => ({ tool: "hub.coord.message", input: { to } });
    const results = await batchOf(await enter(kind), [
      message("first"),
      spawn,
      { tool: "hub.none" },
      { tool: "hub.coord.message", input: { to: 5 } },
      { tool: "hub.websearch.broken" },
      { tool: "runner.about" },
      message("last"),
    ]);
    expect(results).toEqual([
      { success: true, result: { sent: true } },
      { success: false, error: { code: "BUSY", message: "the branch is taken", details: { branch: "taken" } } },
      missing,
      {
        success: false,
        error: {
          code: "VALIDATION_ERROR",
          message: expect.any(String),
          details: [{ path: "to", message: expect.any(String) }],
        },
      },
      { success: false, error: { code: "INTERNAL", message: expect.not.stringContaining("hunter2") } },
      { success: true, result: { about: "a hub" } },
      { success: true, result: { sent: true } },
    ]);
    expect(ran).toEqual(["message first", "message last"]);
  });

  it("gets the same answers from a batch as from the tools themselves in a direct view", async () => {
    const { enter } = await serveHub();
    const [gateway, direct] = [await enter(kind), await enter(kind, "?surface=direct")];
    expect(await direct.tools()).toEqual(openOperations.map((id) => id.replaceAll(".", "_")));
    for (const [id, input] of [
      ["hub.coord.status", { parentSessionId: "p" }],
      ["hub.websearch.query", { q: "mcp", more: [1] }],
      ["runner.about", {}],
    ] as const) {
      const { structuredContent } = await direct.call(id.replaceAll(".", "_"), input);
      expect(await batchOf(gateway, [{ tool: id, input }])).toEqual([{ success: true, result: structuredContent }]);
    }
  });

  it.each([0, 51])("is refused before anything runs when a batch has %i calls", async (count) => {
    const { enter, ran, app } = await serveHub();
    const calls = Array.from({ length: count }, () => ({ tool: "hub.coord.message", input: { to: "x" } }));
    const answer = await (await enter(kind)).call("call", { calls });
    expect(answer).toMatchObject({ isError: true, _meta: { "surface-mcp/error": { code: "VALIDATION_ERROR" } } });
    expect(ran).toEqual([]);
    expect(app.calls.roots().flatMap(({ children }) => children)).toEqual([]);
  });

  it("leaves one tree of calls with nested ones", async () => {
    const { enter, app } = await serveHub();
    const input = { sessionId: "s", task: "t" };
    await batchOf(await enter(kind), [{ tool: "hub.coord.spawn", input }, { tool: "hub.none" }]);
    const root = app.calls.roots().at(-1);
    expect(root).toMatchObject({ operationId: "call", state: "completed", surface: "default" });
    expect(root).not.toHaveProperty("parentRequestId");
    const [spawn] = root?.children ?? [];
    expect(spawn).toMatchObject({
      operationId: "hub.coord.spawn",
      state: "completed",
      parentRequestId: root?.requestId,
      children: [{ operationId: "hub.git.worktreeCreate", state: "completed", parentRequestId: spawn?.requestId }],
    });
    expect(app.calls.find(spawn?.requestId ?? "")).toEqual(spawn);
  });

  it("stops its call, all nested calls, and those that have not begun, by a cancellation", async () => {
    const { enter, app, ran, stopped } = await serveHub();
    const agent = await enter(kind);
    const aborting = new AbortController();
    const calls = [{ tool: "hub.coord.wait" }, { tool: "hub.coord.message", input: { to: "never" } }];
    const answer = agent.call("call", { calls }, aborting.signal);
    void answer.catch(() => undefined);
    await until(() => ran.includes("idle"));
    aborting.abort();
    await expect(answer).rejects.toThrow(/abort/i);
    await until(() => stopped.length === 2);
    expect(stopped.toSorted()).toEqual(["idle", "wait"]);
    await until(() => app.calls.roots().at(-1)?.endedAt !== undefined);
    const root = app.calls.roots().at(-1);
    expect(root).toMatchObject({ operationId: "call", state: "aborted" });
    expect(root?.children[0]).toMatchObject({ operationId: "hub.coord.wait", state: "aborted" });
    expect(root?.children[0]?.children).toMatchObject([{ operationId: "hub.coord.idle", state: "aborted" }]);
    expect(ran).toEqual(["wait", "idle"]);
  });

  it("finds a new operation with its next request, without a notification of a changed list", async () => {
    const { enter, operations } = await serveHub();
    const agent = await enter(kind);
    let told = 0;
    if (agent.announcesTools()) await agent.onTools(() => (told += 1));
    await quiet();
    const unregister = operations.register({ name: "coord.adopt", description: "Adopts a session" }, () => ({ at: 1 }));
    expect(await answerOf(agent, "search", { q: "adopt" })).toMatchObject({ tools: [{ tool: "hub.coord.adopt" }] });
    expect(await batchOf(agent, [{ tool: "hub.coord.adopt" }])).toEqual([{ success: true, result: { at: 1 } }]);
    unregister();
    expect(await answerOf(agent, "search", { q: "adopt" })).toEqual({ tools: [], total: 0 });
    expect(await batchOf(agent, [{ tool: "hub.coord.adopt" }, { tool: "runner.about" }])).toMatchObject([missing, {}]);
    await quiet();
    expect(told).toBe(0);
  });

  it("gets one answer for internal, unpermitted, subscription and unknown operations", async () => {
    const { enter } = await serveHub();
    const agent = await enter(kind);
    const hidden = ["hub.coord.idle", "hub.coord.watch", "hub.git.push", "hub.site.deploy", "call"];
    const results = await batchOf(agent, [...hidden.map((tool) => ({ tool })), { tool: "runner.about" }]);
    expect(results.slice(0, -1)).toEqual(hidden.map(() => missing));
    const unknown = await outcomeOf(agent.call("schema", { tool: "hub.none" }));
    for (const tool of hidden) expect(await outcomeOf(agent.call("schema", { tool }))).toBe(unknown);
    for (const q of ["idle", "push", "deploy"]) {
      expect(await answerOf(agent, "search", { q })).toMatchObject({ total: 0 });
    }
    expect(await outcomeOf(agent.call("hub_coord_message"), "hub_coord_message")).toBe(
      await outcomeOf(agent.call("hub_coord_massage"), "hub_coord_massage"),
    );
  });
});

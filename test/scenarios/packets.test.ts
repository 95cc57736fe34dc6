import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { viewRulesFile, type ViewPacket } from "../../src/index.ts";
import { agentKinds, outcomeOf, refusalOf } from "./support/clients.ts";
import { createDaemon, housePacket, readonlyPacket } from "./support/daemon-app.ts";
import { endWithTest, serveForTest } from "./support/serve.ts";
import { denialOf, serveDaemon, withoutWrites } from "./support/serve-daemon.ts";
import { until } from "./support/until.ts";

describe.each(agentKinds)("an agent by $name, and packets,", (kind) => {
  it("is matched by surface, user agent and project together, and by no omitted field", async () => {
    const { enter } = await serveDaemon();
    const by = (userAgent: string): { fetch: typeof fetch } => ({
      fetch: (input, init) => {
        const headers = new Headers(init?.headers);
        headers.set("user-agent", userAgent);
        return fetch(input, { ...init, headers });
      },
    });
    const query = "?surface=observer&project=blackbox";
    expect(await (await enter(kind, query, by("audit/2"))).tools()).toEqual(["bbox_inspect_entity"]);
    const denied = refusalOf(kind, /unknown MCP surface/);
    await expect(enter(kind, query, by("audit/3"))).rejects.toThrow(denied);
    await expect(enter(kind, "?surface=observer", by("audit/1"))).rejects.toThrow(denied);
    await expect(enter(kind, "?surface=observer&project=other", by("audit/1"))).rejects.toThrow(denied);
  });

  it("uses the packet of its project, and every other agent the one for all", async () => {
    const ours: ViewPacket = {
      id: "ours",
      domain: "mcp-surface/routing",
      project: "ours",
      rules: [{ when: { surface: "readonly" }, verdict: { kind: "tool_surface", allow: ["bbox_inspect_entity"] } }],
    };
    const { enter } = await serveDaemon([housePacket, ours]);
    expect(await (await enter(kind, "?surface=readonly&project=ours")).tools()).toEqual(["bbox_inspect_entity"]);
    expect(await (await enter(kind, "?surface=readonly&project=other")).tools()).toEqual(withoutWrites);
  });

  it("sees on every view and in every project exactly the entries of a replay", async () => {
    const { enter, app } = await serveDaemon();
    for (const surface of ["default", "readonly", "reviewer", "executor", "nobody"]) {
      const agent = await enter(kind, `?surface=${surface}&project=p`);
      const replay = app.replay({ surface, project: "p" });
      expect(replay.visible_tools).toEqual(await agent.tools());
      expect(replay.visible_tool_count).toBe(replay.visible_tools.length);
      const uris = await agent.resources();
      expect(replay.visible_resources.map((id) => `surface://blackbox/${id}`)).toEqual(uris);
    }
  });

  it("replays another view by a tool without establishing a session of it", async () => {
    const { enter, serving, app } = await serveDaemon();
    const agent = await enter(kind, "?surface=default");
    const sessions = serving.stats().sessions;
    const { structuredContent } = await agent.call("replay", { action: "replay", surface: "readonly" });
    expect(structuredContent).toMatchObject({
      entity: { surface: "readonly", client: { name: "scenario", version: "1" } },
      verdict: readonlyPacket.rules[0]?.verdict,
      visible_tools: withoutWrites,
    });
    expect(app.replay({ surface: "readonly" }).visible_tools).toEqual(withoutWrites);
    expect(await agent.call("replay", { action: "replay", surface: "workflow" })).toMatchObject({
      structuredContent: { verdict: { kind: "deny" }, visible_tools: [] },
    });
    expect(serving.stats().sessions).toBe(sessions);
  });

  it("learns by a replay which rule hides a tool, and lists and describes packets", async () => {
    const { enter } = await serveDaemon();
    const agent = await enter(kind);
    const replayed = await agent.call("replay", { action: "replay", surface: "reviewer" });
    expect(replayed).toMatchObject({
      structuredContent: {
        hidden: expect.arrayContaining([
          { name: "bbox_note_resolve", by: 'rule "reviewer": disallow "bbox_note_*"' },
          { name: "bbox_absorb", by: 'rule "reviewer": not in allow' },
        ]),
      },
    });
    const listed = await agent.call("replay", { action: "list" });
    expect(listed).toMatchObject({
      structuredContent: { surface_packets: [{ id: "house", rule_count: housePacket.rules.length }], count: 1 },
    });
    const described = await agent.call("replay", { action: "describe", surface: "readonly" });
    expect(JSON.stringify(described["structuredContent"])).toContain('"matches_surface"');
    const nonsense = await agent.call("replay", { action: "bury" });
    expect(nonsense["isError"]).toBe(true);
    expect(JSON.stringify(nonsense)).toMatch(/replay.*list.*describe/);
  });

  it("uses a packet that is installed from a file, and then its replacement", async () => {
    const folder = await mkdtemp(join(tmpdir(), "surface-mcp-packets-"));
    endWithTest(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "surface-readonly.json");
    await writeFile(path, JSON.stringify(readonlyPacket));
    const rules = viewRulesFile(path, { onFault: () => {} });
    endWithTest(() => rules.close());
    const { enter } = await serveForTest(createDaemon(rules).app);
    const agent = await enter(kind, "?surface=readonly");
    expect(await agent.tools()).toEqual(withoutWrites);
    const stricter = structuredClone(readonlyPacket);
    await writeFile(`${path}.new`, JSON.stringify(stricter).replace('"bbox_learn"', '"bbox_knowledge","bbox_learn"'));
    await rename(`${path}.new`, path);
    await until(async () => !(await agent.tools()).includes("bbox_knowledge"));
    expect(await agent.tools()).toEqual(withoutWrites.filter((name) => name !== "bbox_knowledge"));
    // What can be read no more lets nobody in, whatever it said before.
    await writeFile(path, '{"id":"surface-readonly",');
    await until(async () => (await outcomeOf(agent.tools())).includes("the view rules cannot be read"));
    expect(await outcomeOf(agent.call("bbox_knowledge"))).toContain("tool surface denied");
  });

  it("receives the reason, and nothing of the file, when the stored packets cannot be read", async () => {
    const rules = viewRulesFile(join(tmpdir(), "surface-mcp-no-such-packet.json"), { onFault: () => {} });
    endWithTest(() => rules.close());
    const { enter, serving } = await serveForTest(createDaemon(rules).app);
    await expect(enter(kind)).rejects.toThrow(refusalOf(kind, /tool surface denied: the view rules cannot be read/));
    expect(JSON.stringify(await denialOf(serving.url))).not.toContain("packet");
  });
});

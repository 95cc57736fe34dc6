import { describe, expect, it } from "vitest";
import type { ViewRules } from "../../src/index.ts";
import { agentKinds, outcomeOf, refusalOf } from "./support/clients.ts";
import { allTools, readingTools, writingTools } from "./support/daemon-app.ts";
import { denialOf, everything, serveDaemon, withoutWrites } from "./support/serve-daemon.ts";

describe.each(agentKinds)("an agent by $name", (kind) => {
  it("has another view of the same daemon than an agent with another URL", async () => {
    const { enter } = await serveDaemon();
    const seen: Record<string, readonly string[]> = {};
    for (const name of ["readonly", "reviewer", "executor"]) {
      seen[name] = await (await enter(kind, `?surface=${name}`)).tools();
    }
    expect(seen).toEqual({
      readonly: withoutWrites,
      reviewer: [...readingTools, "bbox_note"].toSorted(),
      executor: everything,
    });
  });

  it.each(["", "?surface=", "?surface=default"])(
    "is shown everything unchanged when it comes by /mcp%s",
    async (query) => {
      const { enter, ran } = await serveDaemon();
      const agent = await enter(kind, query);
      expect(await agent.tools()).toEqual(everything);
      expect(await agent.resources()).toEqual(["surface://blackbox/decisions", "surface://blackbox/threads"]);
      expect(await agent.prompts()).toEqual(["decide", "look"]);
      expect(agent.instructions()).toBe("A black box.");
      expect(await agent.call("bro_exec", { text: "go" })).toMatchObject({ structuredContent: { value: "go" } });
      expect(ran).toEqual(["bro_exec"]);
    },
  );

  it("lists only allowed tools, and cannot call others by their known names", async () => {
    const { enter, ran } = await serveDaemon();
    const agent = await enter(kind, "?surface=readonly");
    expect(await agent.tools()).toEqual(withoutWrites);
    const unknown = await outcomeOf(agent.call("no_such", { text: "x" }), "no_such");
    expect(unknown).toMatch(/there is no such tool/);
    for (const name of writingTools) {
      expect(await outcomeOf(agent.call(name, { text: "x" }), name)).toBe(unknown);
    }
    expect(ran).toEqual([]);
    expect(await agent.call("bbox_knowledge", { text: "why" })).toMatchObject({ structuredContent: { value: "why" } });
  });

  it("gets hidden entries neither by read nor by prompt, completion or watch", async () => {
    const { enter } = await serveDaemon();
    const agent = await enter(kind, "?surface=reviewer");
    expect(await agent.resources()).toEqual(["surface://blackbox/threads"]);
    expect(await agent.prompts()).toEqual(["look"]);
    expect(JSON.stringify(await agent.read("surface://blackbox/threads"))).toContain("thread-1");
    expect(JSON.stringify(await agent.prompt("look"))).toContain("Look, kind");
    const [hidden, never] = ["surface://blackbox/decisions", "surface://blackbox/decision5"];
    expect(await outcomeOf(agent.read(hidden), hidden)).toBe(await outcomeOf(agent.read(never), never));
    expect(
      await outcomeOf(
        agent.watch(hidden, () => {}),
        hidden,
      ),
    ).toBe(
      await outcomeOf(
        agent.watch(never, () => {}),
        never,
      ),
    );
    expect(await outcomeOf(agent.prompt("decide"), "decide")).toBe(await outcomeOf(agent.prompt("deride"), "deride"));
    expect(await outcomeOf(agent.complete("decide", "tone"), "decide")).toBe(
      await outcomeOf(agent.complete("deride", "tone"), "deride"),
    );
    expect(JSON.stringify(await agent.complete("look", "tone"))).toContain("strict");
  });

  it("receives the view's instructions after the server's own", async () => {
    const { enter } = await serveDaemon();
    const agent = await enter(kind, "?surface=readonly");
    expect(agent.instructions()).toBe(
      "A black box.\n\nRead-only surface. Inspect and search freely; do not propose writes.",
    );
  });

  it("sees only the entries of a non-empty allow list", async () => {
    const { enter } = await serveDaemon();
    expect(await (await enter(kind, "?surface=reviewer")).tools()).toEqual([
      "bbox_hybrid_search",
      "bbox_inspect_entity",
      "bbox_knowledge",
      "bbox_note",
    ]);
  });

  it("sees all tools when allow is empty", async () => {
    const { enter } = await serveDaemon();
    expect(await (await enter(kind, "?surface=executor")).tools()).toEqual(everything);
  });

  it("does not see entries that allow and disallow both name", async () => {
    const both: ViewRules = [
      { verdict: { kind: "tool_surface", allow: ["bbox_*", "bro_exec"], disallow: ["bbox_refactor_*", "bro_????"] } },
    ];
    const { enter } = await serveDaemon(both);
    const visible = allTools.filter((name) => name.startsWith("bbox_") && !name.startsWith("bbox_refactor_"));
    expect(await (await enter(kind)).tools()).toEqual(visible);
  });

  it("is let in, and shown nothing, when everything is disallowed", async () => {
    const { enter } = await serveDaemon();
    const agent = await enter(kind, "?surface=nobody");
    expect([await agent.tools(), await agent.resources(), await agent.prompts()]).toEqual([[], [], []]);
  });

  it("is rejected outright with the reason when the verdict is deny, and no session is there after", async () => {
    const { enter, serving } = await serveDaemon();
    const url = `${serving.url}?surface=workflow`;
    await expect(enter(kind, "?surface=workflow")).rejects.toThrow(
      refusalOf(kind, /tool surface denied: only dispatched workflows come by this/),
    );
    const error = { code: -32_603, message: "tool surface denied: only dispatched workflows come by this" };
    expect(await denialOf(url)).toEqual([200, null, { jsonrpc: "2.0", id: 1, error }]);
    expect(serving.stats().sessions).toBe(0);
  });

  it("is rejected when it names a view that no rule knows", async () => {
    const { enter, serving } = await serveDaemon();
    await expect(enter(kind, "?surface=exceutor")).rejects.toThrow(
      refusalOf(kind, /tool surface denied: unknown MCP surface/),
    );
    expect(serving.stats().sessions).toBe(0);
  });
});

import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import type { ReplayOptions } from "../../src/builder/assemble-app.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { operationRegistry } from "../../src/catalog/mounts/operation-registry.ts";
import { cell, procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import type { ViewRules } from "../../src/views/view-rules.ts";
import { expectRefusal } from "../tags/support.ts";
import { counter, deadLink } from "./support.ts";

const surface = defineSurface("ci", {
  nodes: mcpResource(cell({ schema: z.number() })),
  "node.show": readOnly(mcpTool(procedure({}))),
  "node.rerun": mcpTool(procedure({})),
});
const handler = (): number => 1;

describe("replay() of an app", () => {
  it("returns the visible entries, and the rules that hide the others, without serving", () => {
    const link = deadLink();
    const app = mcp(surface)
      .bridge(link)
      .views({ readonly: { readOnly: true }, named: { disallow: ["node_*", "nodes"] }, locked: { deny: "closed" } });
    expect(app.replay({ surface: "readonly" })).toEqual({
      entity: { surface: "readonly" },
      verdict: { kind: "tool_surface", readOnly: true },
      visible_tools: ["node_show"],
      visible_tool_count: 1,
      visible_resources: ["nodes"],
      hidden: [{ name: "node.rerun", by: 'rule "readonly": readOnly' }],
    });
    expect(app.replay({ surface: "named" })).toMatchObject({ visible_tools: [], visible_resources: [] });
    expect(app.replay({ surface: "locked" })).toMatchObject({
      verdict: { kind: "deny", reason: "closed" },
      visible_tools: [],
    });
    expect(app.replay()).toMatchObject({ entity: { surface: "default" }, visible_tool_count: 2 });
    expect(app.replay({ surface: "other" })).toMatchObject({ verdict: { kind: "deny" }, visible_tool_count: 0 });
    expect(link.dials).toBe(0);
  });

  it.each<readonly [string, unknown, string]>([
    ["a text", "readonly", "its options must be an object"],
    ["null", null, "its options must be an object"],
    ["a list", [], "its options must be an object"],
    ["a name that is none", { view: "readonly" }, '"view" is not an option'],
    ["a view that is no text", { surface: 7 }, '"surface" must be a text that is not empty'],
    ["a view that is empty", { surface: "" }, '"surface" must be a text that is not empty'],
    ["a project that is no text", { project: null }, '"project" must be a text that is not empty'],
    ["a caller by name", { caller: "ada" }, '"caller" must be an object'],
  ])("refuses options that are or hold %s", (_what, options, problem) => {
    const app = mcp(surface)
      .bridge(deadLink())
      .views({ readonly: { readOnly: true } });
    // What it is tested for.
    const replay = (): unknown => app.replay(options as ReplayOptions);
    expectRefusal(replay, "INVALID_OPTION", `Cannot call replay(): ${problem}`);
  });

  it("replay() takes options that are undefined for left out", () => {
    const app = mcp(surface).bridge(deadLink());
    const nothing: object = { surface: undefined, project: undefined, caller: undefined };
    expect(app.replay(nothing)).toEqual(app.replay());
  });

  it("returns all entries without views", () => {
    const app = mcp(surface).bridge(deadLink());
    expect(app.replay()).toMatchObject({ visible_tools: ["node_rerun", "node_show"], hidden: [] });
    expect(app.replay({ surface: "readonly" })).toMatchObject({
      verdict: { kind: "deny", reason: "unknown MCP surface" },
    });
  });

  it("replay() runs no handler when the app implements its surface", () => {
    const run = vi.fn<() => number>(handler);
    const app = mcp(surface)
      .implement({ nodes: cellSource(0), "node.show": run, "node.rerun": run })
      .tools({ extra: { handler: run } })
      .pull()
      .views({ default: {} }, { replay: true });
    expect(app.replay().visible_tools).toEqual([
      "extra",
      "node_rerun",
      "node_show",
      "read_resource",
      "replay",
      "wait_for_change",
    ]);
    expect(run).not.toHaveBeenCalled();
  });

  it("uses the current mounts and rules", () => {
    const rules = cellSource<ViewRules>([{ verdict: { kind: "tool_surface" } }]);
    const hub = operationRegistry();
    const app = mcp(surface).bridge(deadLink()).mount("hub", hub).views(rules);
    expect(app.replay().visible_tools).toEqual(["node_rerun", "node_show"]);
    const unregister = hub.register({ name: "status", type: "query" }, handler);
    expect(app.replay().visible_tools).toEqual(["hub_status", "node_rerun", "node_show"]);
    rules.set([{ id: "hub", verdict: { kind: "tool_surface", face: "gateway", allow: ["hub_*"] } }]);
    expect(app.replay()).toMatchObject({
      visible_tools: ["call", "list", "schema", "search"],
      operations: ["hub.status"],
    });
    unregister();
    expect(app.replay()).toMatchObject({ operations: [] });
  });

  it("leaves out the entries that a caller's scopes do not allow", () => {
    const app = mcp(surface).bridge(deadLink());
    const caller: Caller = {
      ...anonymous,
      id: "ann",
      isAnonymous: false,
      scopes: ["ci:read"],
      view: { surface: "default", userAgent: "ua/1" },
    };
    expect(app.replay({ caller, project: "web" })).toMatchObject({
      entity: { surface: "default", project: "web", user_agent: "ua/1", principal: "ann" },
      visible_tools: ["node_show"],
      hidden: [{ name: "node.rerun", by: "scopes" }],
    });
  });

  it("replay() is refused when the app has no link", () => {
    // The stages show what is legal; this does what is not.
    const app = mcp(counter) as unknown as { replay(): unknown };
    expectRefusal(() => app.replay(), "NOT_LINKED", "Cannot call replay(): the app has no link");
  });
});

describe("the calls of an app", () => {
  it("each app has its own, empty ones when nothing was called", () => {
    const app = mcp(surface).bridge(deadLink());
    const other = app.tools({ extra: { handler } });
    expect(app.calls.roots()).toEqual([]);
    expect(app.calls).toBe(app.calls);
    expect(other.calls).not.toBe(app.calls);
  });
});

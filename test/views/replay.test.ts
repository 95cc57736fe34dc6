import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallContext } from "../../src/call/call-context.ts";
import { replayOrigin, replayToolName } from "../../src/catalog/wire-name.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { Views } from "../../src/views/views.ts";
import { createReplayTool, describeViews, listViews, replayView } from "../../src/views/replay-view.ts";
import { show, narrowToGrants } from "../../src/views/show.ts";
import { toEntity } from "../../src/views/compile-rules.ts";
import type { ViewPacket } from "../../src/views/view-rules.ts";
import { callOnce } from "../call/support.ts";
import { callerBy, sampleCatalog } from "./support.ts";

const catalog = sampleCatalog();

const packets: readonly ViewPacket[] = [
  {
    id: "all",
    domain: "mcp-surface/routing",
    description: "for everybody",
    rules: [
      { id: "look", when: { surface: "readonly" }, verdict: { kind: "tool_surface", disallow: ["node_*"] } },
      { when: { surface: ["hub", "locked"], principal: "ci" }, verdict: { kind: "tool_surface", face: "gateway" } },
      { id: "locked", when: { surface: "locked" }, verdict: { kind: "deny", reason: "not today" } },
    ],
  },
  { id: "site", domain: "mcp-surface/routing", project: "site", rules: [{ verdict: { kind: "tool_surface" } }] },
];

describe("replaying a view", () => {
  const views = new Views(packets);

  it("replayView() returns the shown entries and the pattern that hides each other one (B16)", () => {
    expect(replayView({ views, catalog, caller: callerBy("readonly") })).toEqual({
      entity: { surface: "readonly" },
      verdict: { kind: "tool_surface", disallow: ["node_*"] },
      visible_tools: ["summarise"],
      visible_tool_count: 1,
      visible_resources: ["nodes", "status"],
      hidden: [
        { name: "deploy", by: "resource" },
        { name: "node.log", by: 'rule "look": disallow "node_*"' },
        { name: "node.rerun", by: 'rule "look": disallow "node_*"' },
        { name: "purge", by: "scopes" },
      ],
    });
  });

  it("replayView() shows nothing when a view denies (B16)", () => {
    expect(replayView({ views, catalog, caller: callerBy("locked") })).toMatchObject({
      verdict: { kind: "deny", reason: "not today" },
      visible_tools: [],
      visible_tool_count: 0,
      visible_resources: [],
    });
  });

  it("replayView() lists the four tools and the operations of a gateway (B16)", () => {
    const caller = callerBy("hub", { id: "ci", isAnonymous: false, scopes: ["probe:read"] });
    const replay = replayView({ views, catalog, caller });
    expect(replay.visible_tools).toEqual(["call", "list", "schema", "search"]);
    expect(replay.operations).toEqual(["node.log", "summarise"]);
    expect(replay.entity).toEqual({ surface: "hub", principal: "ci" });
    // Without the scope of every read, the gateway's own tools are not listed either.
    expect(replayView({ views, catalog, caller: { ...caller, scopes: ["other"] } }).visible_tools).toEqual([]);
  });

  it("replayView() agrees with the lists for any callers and views (B17)", () => {
    const anyCaller = fc.record({
      surface: fc.constantFrom("default", "readonly", "locked", "nowhere"),
      scopes: fc.subarray(["probe:read", "probe:write", "admin"]),
      isAnonymous: fc.boolean(),
      project: fc.constantFrom(undefined, "site", "other"),
    });
    fc.assert(
      fc.property(anyCaller, ({ surface, scopes, isAnonymous, project }) => {
        const view = { surface, ...(project === undefined ? {} : { project }) };
        const caller = { id: isAnonymous ? "anonymous" : "me", isAnonymous, scopes, view };
        const listed = narrowToGrants(show(catalog, views.decide(toEntity(caller))), caller).catalog.tools;
        expect(replayView({ views, catalog, caller }).visible_tools).toEqual(listed.map(({ name }) => name));
      }),
    );
  });

  it("listViews() names packets, their scope and their number of rules (B16)", () => {
    expect(listViews(views)).toEqual({
      surface_packets: [
        { id: "all", scope: "global", rule_count: 3 },
        { id: "site", scope: "project", project: "site", rule_count: 1 },
      ],
      count: 2,
    });
    expect(listViews(new Views(undefined))).toEqual({ surface_packets: [], count: 0 });
  });

  it("describeViews() returns the applied packet, its rules and their verdicts (B16)", () => {
    expect(describeViews(views, callerBy("locked"))).toEqual({
      entity: { surface: "locked" },
      packet: { id: "all", domain: "mcp-surface/routing", description: "for everybody" },
      rules: [
        { id: "look", classification: "tool_surface", matches_surface: false },
        { id: "2", classification: "tool_surface", matches_surface: true },
        { id: "locked", classification: "deny", matches_surface: true },
      ],
      verdict: { kind: "deny", reason: "not today" },
      rule: "locked",
    });
    expect(describeViews(views, callerBy("any", { view: { surface: "any", project: "site" } }))).toMatchObject({
      packet: { id: "site", project: "site" },
      rule: "1",
    });
    expect(describeViews(new Views(undefined), callerBy("x"))).toEqual({
      entity: { surface: "x" },
      rules: [],
      verdict: { kind: "deny", reason: "unknown MCP surface" },
    });
  });

  it("toEntity() leaves out unknown fields of a caller (B4)", () => {
    expect(toEntity({ id: "anonymous", isAnonymous: true, scopes: [] })).toEqual({ surface: "default" });
    const client = { name: "claude", version: "1" };
    expect(
      toEntity({
        id: "ci",
        isAnonymous: false,
        scopes: [],
        view: { surface: "a", project: "site", userAgent: "node", client },
      }),
    ).toEqual({ surface: "a", project: "site", user_agent: "node", client, principal: "ci" });
  });
});

describe("the tool that replays", () => {
  const tool = createReplayTool({ views: new Views(packets), readScope: "probe:read", catalog: () => catalog });

  async function replayed(args: JsonObject, more: object = {}): Promise<unknown> {
    const call = new CallContext({ caller: callerBy("default", more) });
    const { outcome } = await callOnce(tool, args, call);
    return outcome.kind === "answer" ? (JSON.parse(outcome.text) as unknown) : outcome;
  }

  it("the tool only reads, and is named as it is reserved, when it is made", () => {
    expect(tool).toMatchObject({
      name: replayToolName,
      origin: replayOrigin,
      hints: { readOnlyHint: true },
      scopes: ["probe:read"],
    });
  });

  it("the tool replays, lists and describes (B16)", async () => {
    expect(await replayed({ action: "list" })).toMatchObject({ count: 2 });
    expect(await replayed({ action: "describe", surface: "locked" })).toMatchObject({ rule: "locked" });
    expect(await replayed({ action: "replay" })).toMatchObject({ entity: { surface: "default" } });
    expect(await replayed({ action: "replay", surface: "readonly", project: "site" })).toMatchObject({
      entity: { surface: "readonly", project: "site" },
      verdict: { kind: "tool_surface" },
    });
  });

  it("the tool names nothing that its caller has no right to (B19)", async () => {
    for (const surface of ["readonly", "locked", "default"]) {
      const text = JSON.stringify(await replayed({ action: "replay", surface }));
      expect(text).not.toContain("purge");
      expect(text).not.toContain("deploy");
      expect(text).not.toContain("inner");
    }
    expect(JSON.stringify(await replayed({ action: "replay", surface: "readonly" }))).toContain("node.rerun");
  });

  it("the tool names no pattern that matches only entries without a right (B19)", async () => {
    const disallow = ["purge", "purg?", "node_*", "*", "nothing.yet"];
    const rules = [{ id: "look", verdict: { kind: "tool_surface", disallow, allow: ["purge", "node.*"] } }] as const;
    const asked = createReplayTool({ views: new Views(rules), readScope: "probe:read", catalog: () => catalog });
    for (const action of ["replay", "describe"]) {
      const call = new CallContext({ caller: callerBy("default") });
      const { outcome } = await callOnce(asked, { action }, call);
      const answered: unknown = outcome.kind === "answer" ? JSON.parse(outcome.text) : outcome;
      expect(answered).toMatchObject({
        verdict: { kind: "tool_surface", disallow: ["node_*", "*", "nothing.yet"], allow: ["node.*"] },
      });
      expect(JSON.stringify(answered)).not.toContain("purg");
    }
  });

  it.each<[string, JsonObject]>([
    ["another action", { action: "install" }],
    ["no action", {}],
    ["an action that is inherited", JSON.parse('{"__proto__":{"action":"list"}}') as JsonObject],
  ])("the tool lists its three actions when it is given %s (B16)", async (_what, args) => {
    expect(await replayed(args)).toMatchObject({
      kind: "refused",
      code: "VALIDATION_ERROR",
      issues: [{ path: "action", message: 'expected "replay", "list", "describe"' }],
    });
  });

  it.each([7, "x".repeat(257), null])("the tool refuses a view when it is called %j", async (surface) => {
    expect(await replayed({ action: "replay", surface })).toMatchObject({ kind: "refused", code: "VALIDATION_ERROR" });
  });
});

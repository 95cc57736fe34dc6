import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import {
  cell,
  cellSource,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  redactSecrets,
  skillsFolder,
} from "../../src/index.ts";
import { Inspector, type InspectorOptions } from "../../src/inspector/inspector.ts";
import type { PageUpdate } from "../../src/inspector/messages.ts";
import { kInspected, type InspectedApp } from "../../src/mcp/inspected-app.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { ManualClock } from "../links/manual-clock.ts";
import { createObservedApp } from "../observe/observed-app.ts";

function inspectedOf(app: ServableApp): InspectedApp {
  const inspected = app[kInspected];
  if (inspected === undefined) throw new Error("cannot be inspected");
  return inspected;
}

function inspect(app: ServableApp, options: Partial<InspectorOptions> = {}) {
  const clock = new ManualClock();
  const faults: unknown[] = [];
  const inspector = new Inspector(inspectedOf(app), { clock, report: ({ cause }) => faults.push(cause), ...options });
  return { inspector, clock, faults };
}

describe("an inspector", () => {
  it("shows an app that is not open as not open, and does not open it", () => {
    const { app } = createObservedApp();
    const { inspector } = inspect(app);
    const { app: shown, calls, links, values, history, oldest } = inspector.snapshot();
    expect(shown).toMatchObject({ name: "observed", version: "0.0.0", approve: false, values: false });
    expect({ calls, values, history, oldest }).toEqual({
      calls: { rows: [], more: 0 },
      values: { rows: [], more: 0 },
      history: [],
      oldest: 0,
    });
    expect(links).toEqual([]);
    expect(inspector.exposure()).toMatchObject({ views: [], entries: [], unexposed: [] });
    inspector.close();
  });

  it("has a row for each ended request and nested call, newest last in a snapshot", async () => {
    const { app } = createObservedApp();
    const { inspector } = inspect(app);
    const client = createTestClient(app);
    await client.tools.echo({ text: "a" });
    await client.tools.outer();
    await client.close();
    const { history, clients } = inspector.snapshot();
    expect(history.map(({ name, outcome }) => [name, outcome])).toEqual(
      expect.arrayContaining([
        ["echo", "ok"],
        ["inner", "ok"],
        ["outer", "ok"],
      ]),
    );
    const nested = history.find(({ name }) => name === "inner");
    const outer = history.find(({ name }) => name === "outer");
    expect(nested?.parent).toBe(outer?.call);
    expect(history.map(({ seq }) => seq)).toEqual(history.map((_row, index) => index + 1));
    expect(clients.more).toBe(0);
    expect(JSON.stringify(history)).not.toContain('"arguments"');
    inspector.close();
  });

  it("has the name that agents use in every list, and finds it by its id too", async () => {
    const surface = defineSurface("work", { "items.close": mcpTool(procedure({})) });
    const app = mcp(surface).implement({ "items.close": () => 1 });
    const { inspector } = inspect(app);
    const client = createTestClient(app);
    await client.tools.items_close();
    await client.close();
    for (const tool of ["items_close", "items.close"])
      expect(inspector.history({ tool }).rows.map(({ name }) => name)).toEqual(["items_close"]);
    expect(inspector.snapshot().tools.rows.map(({ tool }) => tool)).toEqual(["items_close"]);
    inspector.close();
  });

  it("has redacted arguments and results only with a redactor", async () => {
    const { app } = createObservedApp();
    const { inspector } = inspect(app, { values: redactSecrets() });
    const client = createTestClient(app);
    await client.tools.login({
      user: "ann",
      password: "sentinel-a",
      pin: "sentinel-b",
      list: [{ apiKey: "sentinel-c" }],
    });
    await client.close();
    const row = inspector.history({ tool: "LOGIN" }).rows[0];
    expect(row?.arguments).toMatchObject({ user: "ann" });
    expect(row?.result).toMatchObject({ user: "ann" });
    expect(JSON.stringify(inspector.snapshot())).not.toContain("sentinel");
    inspector.close();
  });

  it("sends the parts that have changed, the same text to all, at most ten times a second", async () => {
    const { app } = createObservedApp();
    const { inspector, clock } = inspect(app);
    const texts: [string[], string[]] = [[], []];
    const leave = inspector.subscribe((json) => texts[0].push(json));
    inspector.subscribe((json) => texts[1].push(json));
    const client = createTestClient(app);
    await clock.pass(500);
    texts[0].length = 0;
    texts[1].length = 0;
    for (let round = 0; round < 50; round += 1) await client.tools.echo({ text: "a" });
    await clock.pass(1000);
    expect(texts[0]).toEqual(texts[1]);
    expect(texts[0].length).toBeGreaterThan(0);
    expect(texts[0].length).toBeLessThanOrEqual(10);
    const updates = texts[0].map((text) => JSON.parse(text) as PageUpdate);
    expect(updates.flatMap(({ history = [] }) => history)).toHaveLength(50);
    expect(updates[0]?.links).toBeUndefined();
    leave();
    inspector.close();
    expect(clock.size).toBe(0);
    await client.close();
  });

  it("shows a running call with its progress, and cancels it", async () => {
    const surface = defineSurface("work", { now: mcpResource(cell({ schema: z.int() })) });
    const app = mcp(surface)
      .implement({ now: cellSource(1) })
      .tools({
        wait: {
          handler: async (_args, { progress, signal }) => {
            progress({ progress: 1, total: 3, message: "one" });
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
          },
        },
      });
    const { inspector } = inspect(app);
    const client = createTestClient(app);
    const answer = client.tools.wait();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const [row] = inspector.snapshot().calls.rows;
    expect(row).toMatchObject({ tool: "wait", state: "running", progress: { done: 1, total: 3, message: "one" } });
    expect(inspector.cancel(row?.id ?? "")).toBe(true);
    expect(inspector.cancel(row?.id ?? "")).toBe(false);
    // It may have changed something before.
    expect(await answer).toMatchObject({ code: "ABORTED", text: expect.stringContaining("unknown") });
    expect(inspector.history({}).rows[0]).toMatchObject({ outcome: "cancelled", name: "wait" });
    expect(inspector.snapshot().calls).toEqual({ rows: [], more: 0 });
    await client.close();
    inspector.close();
  });

  it("shows every entry view by view, with what hides it", async () => {
    const surface = defineSurface("shown", {
      level: mcpResource(cell({ schema: z.int(), description: "The level" })),
      reset: mcpTool(procedure({})),
      hidden: procedure({}),
    });
    const app = mcp(surface, { version: "2.0.0" })
      .implement({ level: cellSource(1), reset: () => 1, hidden: () => 1 })
      .views({ few: { disallow: ["reset"] }, gate: { face: "gateway" } });
    const { inspector } = inspect(app);
    const client = createTestClient(app);
    const { views, entries, unexposed, version } = inspector.exposure();
    expect(views.map(({ name, face, tools }) => [name, face, tools])).toEqual([
      ["default", "direct", 1],
      ["few", "direct", 0],
      ["gate", "gateway", 4],
    ]);
    expect(views.map(({ tokens }) => tokens > 10)).toEqual([true, false, true]);
    const listed = { as: "listed" };
    expect(entries.find(({ id }) => id === "reset")).toMatchObject({
      ...{ kind: "tool", name: "reset", effects: ["changes", "destructive"], scopes: ["shown:write"] },
      shown: [listed, { hiddenBy: 'rule "few": disallow "reset"' }, { as: "operation" }],
    });
    expect(entries.find(({ id }) => id === "level")).toMatchObject({
      ...{ kind: "resource", name: "surface://shown/level", description: "The level", effects: ["reads"] },
      shown: [listed, listed, listed],
    });
    expect(unexposed).toEqual([{ name: "hidden", kind: "procedure", why: "no tag, and not in expose()" }]);
    expect(inspector.entry("reset")?.json).toMatchObject({ name: "reset", inputSchema: { type: "object" } });
    expect(inspector.entry("level", "resource")?.json).toMatchObject({ uri: "surface://shown/level" });
    expect(inspector.entry("level", "tool")).toBeUndefined();
    expect(inspector.entry("hidden")).toBeUndefined();
    expect(inspector.exposure().version).toBe(version);
    await client.close();
    inspector.close();
  });

  it("shows the pages of tools and the skills view by view, with what hides them", async () => {
    const surface = defineSurface("shop", {
      "cart.show": mcpTool(procedure({}), { mutates: false, ui: { html: "<p>", permissions: { camera: true } } }),
      "cart.set": mcpTool(procedure({}), { ui: { visibility: ["app"] } }),
    });
    const app = mcp(surface, { skills: skillsFolder(new URL("../cli/fixtures/skills", import.meta.url)) })
      .implement({ "cart.show": () => {}, "cart.set": () => {} })
      .views({ none: { disallow: ["cart.show", "skills/*"] }, gate: { face: "gateway" } });
    const { inspector } = inspect(app);
    const client = createTestClient(app);
    const { entries, views } = inspector.exposure();
    expect(entries.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "tool cart_set",
      "tool cart_show",
      "page ui://shop/cart_show",
      "skill deploy",
    ]);
    expect(views.map(({ tools }) => tools)).toEqual([2, 1, 4]);
    expect(entries[2]).toMatchObject({
      ...{ id: "cart.show", effects: ["reads"], scopes: ["shop:read"], tokens: 0 },
      shown: [{ as: "readable" }, { hiddenBy: 'rule "none": disallow "cart.show"' }, { hiddenBy: "gateway" }],
    });
    const listed = { as: "listed" };
    expect(entries[3]).toMatchObject({
      ...{ id: "skills/deploy", description: "Deploy a release.", effects: ["reads"], scopes: ["shop:read"] },
      shown: [listed, { hiddenBy: 'rule "none": disallow "skills/*"' }, listed],
    });
    // The name and the description, without the digests of the files.
    expect(entries[3]?.tokens).toBeGreaterThan(5);
    expect(entries[3]?.tokens).toBeLessThan(20);
    expect(inspector.entry("cart.show", "page")?.json).toEqual({
      uri: "ui://shop/cart_show",
      mimeType: "text/html;profile=mcp-app",
      _meta: { ui: { permissions: { camera: {} } } },
    });
    expect(inspector.entry("skills/deploy", "skill")?.json).toMatchObject({
      uri: "skill://shop/deploy/SKILL.md",
      frontmatter: { name: "deploy" },
    });
    await client.close();
    inspector.close();
  });

  it("shows watched values and their changes, with the value only with a redactor", async () => {
    const surface = defineSurface("state", {
      config: mcpResource(cell({ schema: z.object({ host: z.string(), pin: z.string().meta({ writeOnly: true }) }) })),
      big: mcpResource(cell({ schema: z.string() })),
    });
    const [config, big] = [cellSource({ host: "a", pin: "sentinel" }), cellSource("x".repeat(5_000_000))];
    const app = mcp(surface).implement({ config, big });
    const [plain, redacted] = [inspect(app).inspector, inspect(app, { values: redactSecrets() }).inspector];
    const client = createTestClient(app);
    await client.watch("config", () => {});
    await client.watch("big", () => {});
    config.set({ host: "b", pin: "sentinel" });
    await vi.waitFor(() => expect(plain.snapshot().values.rows[0]?.changes).toBe(1));
    const shown = { uri: "surface://state/config", watchers: 1, isStale: false, changes: 1, bytes: 29 };
    expect(plain.snapshot().values.rows[0]).toEqual({ ...shown, changedAt: expect.any(Number) });
    const { rows } = redacted.snapshot().values;
    expect(rows[0]).toMatchObject({ ...shown, value: { host: "b", pin: "[redacted]" } });
    expect(rows[1]?.bytes).toBe(5_000_002);
    expect(JSON.stringify(rows).length).toBeLessThan(20_000);
    await client.close();
    expect(plain.snapshot().values).toEqual({ rows: [], more: 0 });
    plain.close();
    redacted.close();
  });

  it("decides a confirmation that no client can show, if pages may", async () => {
    const surface = defineSurface("money", { level: mcpResource(cell({ schema: z.int() })) });
    const app = mcp(surface)
      .implement({ level: cellSource(1) })
      .tools({ pay: { confirm: true, handler: () => "paid" } });
    const [reader, approver] = [inspect(app).inspector, inspect(app, { approve: true }).inspector];
    const client = createTestClient(app);
    const paid = client.tools.pay();
    await vi.waitFor(() => expect(approver.snapshot().approvals).toHaveLength(1));
    const [approval] = approver.snapshot().approvals;
    expect(approval).toMatchObject({ tool: "pay", caller: "anonymous" });
    expect(reader.decide(approval?.id ?? "", { agree: true })).toBe(false);
    expect(approver.decide("unknown", { agree: true })).toBe(false);
    expect(approver.decide(approval?.id ?? "", { agree: true })).toBe(true);
    expect(await paid).toMatchObject({ isError: false, text: "paid" });
    expect(approver.snapshot().approvals).toEqual([]);
    approver.close();
    expect(await client.tools.pay()).toMatchObject({ isError: true });
    await client.close();
    reader.close();
  });

  it("goes on when its app is closed and opened again, and beside another inspector", async () => {
    const { app } = createObservedApp();
    const [first, second] = [inspect(app).inspector, inspect(app).inspector];
    const versions = [first.exposure().version];
    for (let round = 0; round < 2; round += 1) {
      const client = createTestClient(app);
      await client.tools.echo({ text: "a" });
      expect(first.exposure().entries.length).toBeGreaterThan(5);
      versions.push(first.exposure().version);
      await client.close();
      expect(first.exposure().entries).toEqual([]);
    }
    expect(new Set(versions).size).toBe(3);
    expect(first.history({ tool: "echo" }).rows).toHaveLength(2);
    expect(first.history({})).toEqual(second.history({}));
    expect(first.snapshot().app.instance).not.toBe(second.snapshot().app.instance);
    first.close();
    first.close();
    const client = createTestClient(app);
    await client.tools.echo({ text: "a" });
    await client.close();
    expect(first.history({ tool: "echo" }).rows).toHaveLength(2);
    expect(second.history({ tool: "echo" }).rows).toHaveLength(3);
    second.close();
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { type Catalog, replaceTools } from "../../src/catalog/catalog.ts";
import type { LiveCatalog } from "../../src/catalog/mounts/live-catalog.ts";
import type { PromptEntry, ToolEntry } from "../../src/catalog/entry.ts";
import { Budget } from "../../src/spine/budget.ts";
import { cellSource, type ViewRule } from "../../src/index.ts";
import { CatalogLists } from "../../src/mcp/lists.ts";
import type { ResolvedView } from "../../src/mcp/resolved-view.ts";
import { ViewResolver } from "../../src/mcp/view-resolver.ts";
import { Views } from "../../src/views/views.ts";
import { ManualClock } from "./subscriptions/session-harness.ts";

function toTool(name: string, more: Partial<ToolEntry> = {}): ToolEntry {
  return {
    id: name,
    name,
    origin: `tool "${name}"`,
    title: undefined,
    description: name,
    hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    scopes: ["s:read"],
    input: { root: "", json: { type: "object" }, decode: (args) => args },
    output: { json: undefined, stringify: () => "{}" },
    timeoutMs: 1000,
    onDisconnect: "finish",
    owner: "surface",
    run: () => ({}),
    ...more,
  };
}

/** Beside the tools, for those who were granted `prompts`. */
const prompt: PromptEntry = {
  ...{
    id: "p",
    name: "p",
    origin: 'prompt "p"',
    title: undefined,
    description: undefined,
    arguments: [],
    inputSchema: {},
  },
  ...{ scopes: ["s:read", "prompts"], requires: { scopes: ["prompts"], scopesAny: [] } },
  check: () => ({}),
  render: () => Promise.resolve("[]"),
};

const empty: Catalog = {
  ...{ tools: [], resources: [], templates: [], prompts: [], warnings: [], uriPrefix: "s://" },
  ...{ tool: () => undefined, toolOf: () => undefined, prompt: () => undefined },
  scopes: { read: "s:read", write: "s:write", all: ["s:read", "s:write"] },
};

/** For nobody: rules are at least one. */
const idle: ViewRule = { when: { surface: "nobody" }, verdict: { kind: "tool_surface" } };

/** When the code that is running has ended: changes that were made in it are told together. */
const ended = (): Promise<void> => Promise.resolve();

/** No resource is watched here. */
const watches = { resolve: () => undefined };

/** A resolver over tools and rules that a test replaces. */
class Setup {
  readonly clock = new ManualClock();
  readonly rules = cellSource<readonly ViewRule[]>([]);
  readonly resolver: ViewResolver;
  readonly #changed = new Set<() => void>();
  #current: Catalog;

  constructor(tools: readonly ToolEntry[], rules: readonly ViewRule[] = [idle]) {
    this.#current = replaceTools(empty, tools);
    this.rules.set(rules);
    const now = (): Catalog => this.#current;
    const live: LiveCatalog = {
      get current() {
        return now();
      },
      canChange: true,
      canReadOthers: false,
      schemas,
      subscribe: (changed) => {
        this.#changed.add(changed);
        return () => void this.#changed.delete(changed);
      },
      close: () => {},
    };
    const views = new Views(this.rules, { report: () => {} });
    const lists = new CatalogLists(10);
    const [instructions, windowMs, report] = ["app", 100, (): void => {}] as const;
    this.resolver = new ViewResolver({
      live,
      views,
      watches,
      lists,
      instructions,
      windowMs,
      report,
      clock: this.clock,
    });
  }

  set(tools: readonly ToolEntry[], base = empty): void {
    this.#current = replaceTools(base, tools);
    for (const changed of [...this.#changed]) changed();
  }

  of(surface: string, more: Partial<Caller> = {}): ResolvedView {
    const view = this.resolver.resolve({ ...anonymous, ...more, view: { surface } });
    if (view.kind === "error") throw new Error(view.message);
    return view;
  }

  get listeners(): number {
    return this.#changed.size;
  }
}

const [a, b] = [toTool("a"), toTool("b")];

const mutating = toTool("m", {
  hints: { ...a.hints, readOnlyHint: false, destructiveHint: true },
  scopes: ["s:write"],
});
const known = (...scopes: string[]): Caller => ({ id: "ann", isAnonymous: false, scopes });

function rule(surface: string, verdict: object): ViewRule {
  return { when: { surface }, verdict: { kind: "tool_surface", ...verdict } };
}

const schemas = new Budget({ total: 1, perKey: 1 });

describe("a resolved view", () => {
  it("is one object for all callers of the default view without rules and mounts, and missing for another view", () => {
    const current = replaceTools(empty, [toTool("a")]);
    const live: LiveCatalog = {
      current,
      canChange: false,
      canReadOthers: false,
      schemas,
      subscribe: () => () => {},
      close: () => {},
    };
    const resolver = new ViewResolver({
      live,
      views: new Views(undefined),
      watches,
      lists: new CatalogLists(10),
      instructions: "app",
      windowMs: 100,
      report: () => {},
    });
    const view = { surface: "default", project: "p", userAgent: "u", client: { name: "c", version: "1" } };
    const callers: readonly Caller[] = [
      anonymous,
      { ...anonymous, view },
      { id: "ann", isAnonymous: false, scopes: [], view },
      { id: "ben", isAnonymous: false, scopes: ["s:read"] },
    ];
    const [first, ...others] = callers.map((caller) => resolver.resolve(caller));
    expect(first).toHaveProperty("catalog.tools", current.tools);
    for (const other of others) expect(other).toBe(first);
    const denied = { kind: "error", message: "tool surface denied: unknown MCP surface" };
    expect(resolver.resolve({ ...anonymous, view: { surface: "a" } })).toMatchObject(denied);
    expect(resolver.resolve(anonymous)).toBe(first);
    resolver.close();
  });

  it("has the same catalog for as long as it shows the same", () => {
    const setup = new Setup([a, b], [rule("x", { disallow: ["b"] })]);
    const before = setup.of("x").catalog;
    setup.set([a, b, toTool("bb")]);
    expect(setup.of("x").catalog).not.toBe(before);
    const with3 = setup.of("x").catalog;
    setup.set([a, toTool("bb", with3.tool("bb")), toTool("b")]);
    expect(setup.of("x").catalog).not.toBe(with3);
    const now = setup.of("x").catalog;
    setup.set([...now.tools, toTool("b")]);
    expect(setup.of("x").catalog).toBe(now);
  });

  it("outlives rules that are replaced by some that say the same of it", () => {
    const setup = new Setup([a, b], [rule("x", { disallow: ["b"] })]);
    const before = setup.of("x");
    setup.rules.set([rule("y", {}), rule("x", { disallow: ["b"] })]);
    expect(setup.of("x")).toBe(before);
    setup.rules.set([rule("x", { disallow: ["a"] })]);
    expect(setup.of("x").catalog.tools).toEqual([b]);
    expect(setup.of("x").rules).not.toBe(before.rules);
  });

  it("is another object for each rule, also for equal rules, before and after they are replaced", () => {
    const rules = [rule("x", { disallow: ["b"] }), rule("y", { disallow: ["b"] })];
    const setup = new Setup([a, b], rules);
    expect(setup.of("x")).not.toBe(setup.of("y"));
    setup.rules.set([...rules]);
    expect(setup.of("x")).not.toBe(setup.of("y"));
  });

  it("is resolved again after the rules were replaced, or the caller has changed", () => {
    const setup = new Setup([a, b], [rule("x", { disallow: ["b"] })]);
    const caller: Caller = Object.freeze({ ...anonymous, view: Object.freeze({ surface: "x" }) });
    const toolsFor = (one: Caller): unknown => setup.resolver.shownTo(one)?.catalog.tools;
    expect([toolsFor(caller), toolsFor(caller)]).toEqual([[a], [a]]);
    setup.rules.set([rule("x", { disallow: ["a"] })]);
    expect(toolsFor(caller)).toEqual([b]);
    setup.rules.set([rule("x", { disallow: ["a"] }), rule("y", {})]);
    const view = { surface: "x" };
    const loose: Caller = Object.freeze({ ...anonymous, view });
    expect(toolsFor(loose)).toEqual([b]);
    view.surface = "y";
    expect(toolsFor(loose)).toEqual([a, b]);
  });

  it("lists the same object to callers with the same grants", () => {
    const c = toTool("c", { scopes: ["s:read", "more"], requires: { scopes: ["more"], scopesAny: [] } });
    const view = new Setup([a, b, c]).of("default");
    expect(view.listedFor(known("s:read", "more", "other"))).toBe(view.catalog);
    expect(view.listedFor(known("s:read")).tools).toEqual([a, b]);
    expect(view.listedFor(known("s:read", "other"))).toBe(view.listedFor({ ...known("s:read"), id: "bob" }));
    expect(view.listedFor(known("more")).tools).toEqual([]);
    expect(view.listedFor(anonymous).tools).toEqual([a, b]);
    expect(view.catalog.tool("c")).toBe(c);
  });

  it("of a gateway stays the same object when operations come and go, also mutating ones", () => {
    const setup = new Setup([a], [rule("hub", { face: "gateway" })]);
    const before = setup.of("hub").catalog;
    expect(before.tools.map(({ name }) => name)).toEqual(["call", "list", "schema", "search"]);
    setup.set([a, b]);
    expect(setup.of("hub").catalog).toBe(before);
    setup.set([a, mutating]);
    expect(setup.of("hub").catalog).toBe(before);
  });

  it("of a gateway lists a read-only call exactly to callers who can call only read-only operations", () => {
    const setup = new Setup(
      [a, mutating],
      [rule("hub", { face: "gateway" }), rule("x", { face: "gateway", disallow: ["m"] })],
    );
    const reads = (caller: Caller, surface = "hub"): boolean | undefined =>
      setup.of(surface).listedFor(caller).tool("call")?.hints.readOnlyHint;
    expect([reads(anonymous), reads(known("s:read", "s:write")), reads(known("s:read"))]).toEqual([false, false, true]);
    expect([reads(anonymous, "x"), reads(known("s:read", "s:write"), "x")]).toEqual([true, true]);
    const view = setup.of("x");
    expect(view.listedFor(anonymous)).toBe(view.listedFor(known("s:read", "s:write")));
    expect(view.catalog.tool("call")?.hints.readOnlyHint).toBe(false);
    setup.set([a]);
    expect(reads(anonymous)).toBe(true);
    setup.set([]);
    expect([reads(anonymous), reads(anonymous, "x")]).toEqual([false, false]);
  });

  it("of a gateway lists the current call also to a caller who lacks another entry", () => {
    const setup = new Setup([], [rule("hub", { face: "gateway" })]);
    const withPrompt: Catalog = { ...empty, prompts: [prompt] };
    setup.set([a, mutating], withPrompt);
    const lists = (): unknown => {
      const listed = setup.of("hub").listedFor(anonymous);
      return [listed.prompts, listed.tool("call")?.hints.readOnlyHint];
    };
    expect(lists()).toEqual([[], false]);
    setup.set([a], withPrompt);
    expect(lists()).toEqual([[], true]);
    setup.set([mutating], withPrompt);
    expect(lists()).toEqual([[], false]);
  });

  it.each([
    ["of many views of a few tools", 2, true],
    ["but not of many views of many tools", 2000, false],
  ])("is kept %s", (_what, size, isKept) => {
    const count = 200;
    const tools = Array.from({ length: size }, (_none, index) => toTool(`t${index}`));
    const names = Array.from({ length: count }, (_none, index) => `v${index}`);
    const setup = new Setup(
      tools,
      names.map((name, index) => rule(name, { disallow: ["t1"], instructions: `${index}` })),
    );
    const [first, last] = [setup.of("v0"), names.map((name) => setup.of(name)).at(-1)];
    expect(setup.of(`v${count - 1}`)).toBe(last);
    expect(setup.of("v0") === first).toBe(isKept);
    expect(setup.of("v0").catalog.tools).toHaveLength(size - 1);
  });

  it("finds a tool without a look at the other tools, except after a change", () => {
    let looks = 0;
    const counted = (name: string): ToolEntry =>
      Object.defineProperty(toTool(name), "id", { get: () => ((looks += 1), name), enumerable: true });
    const tools = Array.from({ length: 1000 }, (_none, index) => counted(`t${index}`));
    const setup = new Setup(tools, [rule("x", { disallow: ["t7"] })]);
    expect(setup.of("x").catalog.tool("t8")).toBe(tools[8]);
    looks = 0;
    for (let index = 0; index < 10; index += 1) expect(setup.of("x").catalog.tool("t8")).toBe(tools[8]);
    expect([setup.of("x").catalog.tool("t7"), looks]).toEqual([undefined, 0]);
  });

  it.each([10, 10_000])("decides about the tools that have changed alone, of %i tools", (size) => {
    const looks = { id: 0, scopes: 0, hints: 0 };
    const counted = (name: string, more: Partial<ToolEntry> = {}): ToolEntry => {
      const tool = toTool(name, more);
      const entries = (["id", "scopes", "hints"] as const).map((key) => {
        const value: unknown = tool[key];
        return [key, { enumerable: true, get: () => ((looks[key] += 1), value) }] as const;
      });
      return Object.defineProperties(tool, Object.fromEntries(entries));
    };
    const write = { hints: mutating.hints, scopes: ["s:write"] };
    const tools = Array.from({ length: size }, (_none, index) => counted(`t${index}`, index % 2 === 0 ? {} : write));
    const disallow = ["t7", "y"];
    const setup = new Setup(tools, [rule("x", { disallow }), rule("hub", { disallow, face: "gateway" })]);
    const listed = (): readonly number[] =>
      ["x", "hub"].flatMap((surface) => {
        const view = setup.of(surface);
        return [view.callable.tools.length, view.listedFor(known("s:read")).tools.length];
      });
    const before = listed();
    Object.assign(looks, { id: 0, scopes: 0, hints: 0 });
    setup.set([...tools, counted("z"), counted("y")]);
    expect(listed()).toEqual(before.map((count, index) => (index === 3 ? count : count + 1)));
    expect(looks).toEqual({ id: 4, scopes: expect.any(Number), hints: expect.any(Number) });
    expect(Math.max(looks.scopes, looks.hints)).toBeLessThan(20);
  });

  it("shows and lists the same as a new view when tools come, go and are replaced", () => {
    const rules = [rule("x", { disallow: ["b*"] }), rule("r", { readOnly: true }), rule("hub", { face: "gateway" })];
    const callers = [anonymous, known("s:read"), known("s:read", "s:write"), known("more"), known()];
    const drawn = fc.record({
      name: fc.constantFrom(..."a b bb c d e".split(" ")),
      scopes: fc.constantFrom(["s:read"], ["s:write"], ["s:read", "more"]),
      isReading: fc.boolean(),
    });
    const step = fc.record({ come: fc.array(drawn, { maxLength: 4 }), stays: fc.integer({ min: 0, max: 63 }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const setup = new Setup([], rules);
        let tools: readonly ToolEntry[] = [];
        for (const { come, stays } of steps) {
          const made = come.map(({ name, scopes, isReading }) =>
            toTool(name, { scopes, hints: isReading ? a.hints : mutating.hints }),
          );
          const left = tools.filter((_tool, index) => ((stays >> index) & 1) === 1);
          tools = [...new Map([...left, ...made].map((tool) => [tool.name, tool])).values()];
          setup.set(tools);
          const fresh = new Setup(tools, rules);
          for (const surface of ["x", "r", "hub"]) {
            const [view, other] = [setup.of(surface), fresh.of(surface)];
            expect(view.callable.tools).toEqual(other.callable.tools);
            for (const tool of tools) expect(view.callable.tool(tool.name)).toBe(other.callable.tool(tool.name));
            for (const caller of callers) {
              const names = (of: ResolvedView): unknown =>
                of.listedFor(caller).tools.map(({ name, hints }) => [name, hints.readOnlyHint]);
              expect(names(view)).toEqual(names(other));
            }
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it("is kept when it is used again and again, however many others there are", () => {
    const rules = Array.from({ length: 200 }, (_none, index) => rule(`v${index}`, { instructions: `${index}` }));
    const setup = new Setup(
      Array.from({ length: 2000 }, (_none, index) => toTool(`t${index}`)),
      rules,
    );
    const first = setup.of("v0");
    for (let index = 1; index < 200; index += 1) {
      setup.of(`v${index}`);
      expect(setup.of("v0")).toBe(first);
    }
  });

  it("has the view's instructions after the app's", () => {
    const setup = new Setup([a], [rule("x", { instructions: "view" })]);
    expect([setup.of("x").instructions, setup.of("default").instructions]).toEqual(["app\n\nview", "app"]);
  });
});

describe("a list that is watched", () => {
  it("is announced at once, then at most once a window, and only if it differs", async () => {
    const setup = new Setup([a, b], [rule("x", { disallow: ["b*"] })]);
    const heard = { all: 0, x: 0, hub: 0 };
    const by = (surface: string): Caller => ({ ...anonymous, view: { surface } });
    setup.resolver.watchList("tools", by("default"), () => void (heard.all += 1));
    const stop = setup.resolver.watchList("tools", by("x"), () => void (heard.x += 1));
    setup.set([a]);
    await ended();
    expect(heard).toMatchObject({ all: 1, x: 0 });
    setup.set([a, b]);
    setup.set([a, toTool("b2")]);
    await ended();
    expect(heard).toMatchObject({ all: 1, x: 0 });
    setup.clock.pass(100);
    expect(heard).toMatchObject({ all: 2, x: 0 });
    // There and back within one window: nothing is another after all.
    const now = setup.of("default").catalog.tools;
    setup.set([a]);
    await ended();
    setup.set(now);
    await ended();
    setup.clock.pass(100);
    expect(heard).toMatchObject({ all: 2, x: 0 });
    stop();
    setup.set([]);
    await ended();
    setup.clock.pass(100);
    expect(heard).toMatchObject({ all: 3, x: 0 });
  });

  it("of a gateway is announced when its call becomes read-only or mutating, and not for other operations", async () => {
    const setup = new Setup([a], [rule("hub", { face: "gateway" })]);
    const heard = { all: 0, reader: 0 };
    const by = (caller: Caller): Caller => ({ ...caller, view: { surface: "hub" } });
    setup.resolver.watchList("tools", by(anonymous), () => void (heard.all += 1));
    setup.resolver.watchList("tools", by(known("s:read")), () => void (heard.reader += 1));
    const after = async (...tools: readonly ToolEntry[]): Promise<object> => {
      setup.set(tools);
      await ended();
      setup.clock.pass(100);
      return { ...heard };
    };
    expect(await after(a, b)).toEqual({ all: 0, reader: 0 });
    expect(await after(a, b, mutating)).toEqual({ all: 1, reader: 0 });
    expect(await after(mutating, toTool("n", mutating))).toEqual({ all: 1, reader: 1 });
    expect(await after(a, toTool("n", mutating))).toEqual({ all: 1, reader: 2 });
    expect(await after(b)).toEqual({ all: 2, reader: 2 });
  });

  it("is not announced to denied callers, and after the denial only if it differs", async () => {
    const setup = new Setup([a]);
    let heard = 0;
    setup.resolver.watchList("tools", anonymous, () => void (heard += 1));
    const deny: ViewRule = { verdict: { kind: "deny", reason: "no" } };
    for (const rules of [[deny], [idle], [deny]]) {
      setup.rules.set(rules);
      await ended();
      setup.clock.pass(100);
      expect(heard).toBe(0);
    }
    setup.set([a, b]);
    await ended();
    setup.clock.pass(100);
    expect(heard).toBe(0);
    setup.rules.set([idle]);
    await ended();
    setup.clock.pass(100);
    expect(heard).toBe(1);
  });

  it("is released when its resolver is closed", () => {
    const setup = new Setup([a]);
    let heard = 0;
    setup.resolver.watchList("tools", anonymous, () => void (heard += 1));
    setup.resolver.subscribe(() => void (heard += 1));
    setup.set([b]);
    heard = 0;
    setup.rules.set([idle]);
    setup.resolver.close();
    setup.resolver.close();
    setup.set([a, b]);
    setup.rules.set([idle]);
    setup.clock.pass(1000);
    expect([heard, setup.listeners, setup.clock.pending]).toEqual([1, 0, 0]);
  });
});

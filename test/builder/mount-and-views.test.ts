import { describe, expect, it } from "vitest";
import { kDefinition, type AppDefinition } from "../../src/builder/app-definition.ts";
import { mcp } from "../../src/builder/mcp.ts";
import type { MountSource } from "../../src/catalog/mounts/mount.ts";
import { operationRegistry } from "../../src/catalog/mounts/operation-registry.ts";
import { SurfaceError } from "../../src/errors.ts";
import { cellSource } from "../../src/surface/source.ts";
import type { ViewRules } from "../../src/views/view-rules.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { expectRefusal } from "../tags/support.ts";
import { counter, countingHandlers, deadLink } from "./support.ts";

const link = deadLink();
const handler = (): number => 1;
const list = (): [] => [];
const subscribe = () => () => {};
const source: MountSource = { list, subscribe, invoke: () => null };

/** The app as a caller who casts sees it: every method, with anything. */
interface AnyStage {
  readonly [kDefinition]: AppDefinition;
  bridge(link: unknown): AnyStage;
  expose(map: unknown): AnyStage;
  tools(tools: unknown): AnyStage;
  pull(): AnyStage;
  mount(prefix: unknown, source?: unknown): AnyStage;
  views(input: unknown, options?: unknown): AnyStage;
}

// The stages show what is legal; these tests do what is not.
const any = (app: unknown): AnyStage => app as AnyStage;
const linked = (): AnyStage => any(mcp(counter).bridge(link));

/** What an app boots as, or the error of a boot that failed. */
function refused(make: () => AnyStage): SurfaceError {
  try {
    make();
  } catch (cause) {
    if (cause instanceof SurfaceError) return cause;
    throw cause;
  }
  throw new Error("it was not refused");
}

describe("mounts of an app", () => {
  it("mount() returns a new app and does not change the one before", () => {
    const before = linked();
    const after = before.mount("git", source);
    expect([...before[kDefinition].mounts.keys()]).toEqual([]);
    expect([...after[kDefinition].mounts.keys()]).toEqual(["git"]);
    expect(after[kDefinition].mounts.get("git")).toBe(source);
  });

  it("mount() is refused when the app has no link", () => {
    expectRefusal(() => any(mcp(counter)).mount("git", source), "NOT_LINKED", "call bridge() or implement() first");
  });

  it.each([
    ["nothing", undefined],
    ["an empty text", ""],
    ["with a dash", "a-b"],
    ["with a dot", "a.b"],
    ["that ends in _", "a_"],
    ["of 33 characters", "a".repeat(33)],
    ["a symbol", Symbol("a")],
  ])("mount() refuses a prefix when it is %s", (_what, prefix) => {
    expectRefusal(() => linked().mount(prefix, source), "INVALID_NAME", 'must be letters, digits and "_"');
  });

  it.each(["a", "A9", "my_hub", "a".repeat(32)])("mount() takes a prefix when it is %s", (prefix) => {
    expect([...linked().mount(prefix, source)[kDefinition].mounts.keys()]).toEqual([prefix]);
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["without invoke()", { list, subscribe }],
    ["without list()", { ...source, list: 1 }],
    ["without subscribe()", { list, invoke: list }],
  ])("mount() refuses a source when it is %s", (_what, given) => {
    expectRefusal(() => linked().mount("git", given), "INVALID_OPTION", "list(), subscribe() and invoke()");
  });

  it.each<[string, readonly string[], () => AnyStage]>([
    ["the same prefix comes again", ['"git"'], () => linked().mount("git", source).mount("git", source)],
    [
      "a longer prefix comes behind a shorter",
      ['mount "git"', 'mount "git_hub"'],
      () => linked().mount("git", source).mount("git_hub", source),
    ],
    [
      "a shorter prefix comes behind a longer",
      ['mount "git"', 'mount "git_hub"'],
      () => linked().mount("git_hub", source).mount("git", source),
    ],
    [
      "a tool comes behind the mount",
      ['mount "git"', 'tool "git.x"'],
      () => linked().mount("git", source).tools({ "git.x": { handler } }),
    ],
    [
      "a tool came before the mount",
      ['mount "git"', 'tool "git_x"'],
      () => linked().tools({ git_x: { handler } }).mount("git", source),
    ],
    ["a member has such a name", ['mount "count"', 'procedure "count.bump"'], () => linked().mount("count", source)],
    ["pull() comes behind the mount", ['mount "wait"', "of pull()"], () => linked().mount("wait", source).pull()],
    ["pull() came before the mount", ['mount "read"', "of pull()"], () => linked().pull().mount("read", source)],
  ])("an app is refused, with both origins named, when %s", (_when, origins, make) => {
    const error = refused(make);
    expect(error.code).toBe("NAME_COLLISION");
    for (const origin of origins) expect(error.message).toContain(origin);
  });

  it("names with only the beginning of a mount's prefix are free", () => {
    const app = linked().mount("git", source).mount("gith", source).tools({ git: { handler }, gitx: { handler } });
    expect([...app[kDefinition].mounts.keys()]).toEqual(["git", "gith"]);
  });
});

describe("an app whose operations come and go", () => {
  it("lists a mount once for all changes between two reads, also while a resource is watched", async () => {
    let lists = 0;
    const registry = operationRegistry();
    const counted: MountSource = {
      list() {
        lists += 1;
        return registry.list();
      },
      subscribe: (changed) => registry.subscribe(changed),
      invoke: (name, input, context) => registry.invoke(name, input, context),
    };
    const rules = cellSource<ViewRules>([{ verdict: { kind: "tool_surface" } }]);
    const app = mcp(counter).implement(countingHandlers()).mount("hub", counted).views(rules);
    const client = createTestClient(app);
    await client.listTools();
    const stop = await client.watch("value", () => {});
    const before = lists;
    for (let index = 0; index < 100; index++) registry.register({ name: `op${index}` }, () => index);
    expect(lists).toBe(before);
    expect((await client.toolNames()).length).toBe(101);
    expect(lists).toBe(before + 1);
    stop();
    await client.close();
  });
});

describe("views of an app", () => {
  it("views() freezes a copy of the rules", () => {
    const disallow = ["reset"];
    const app = linked().views({ readonly: { disallow } });
    disallow.push("value");
    expect(app[kDefinition].views).toEqual([
      {
        id: "views",
        domain: "mcp-surface/routing",
        rules: [
          { id: "readonly", when: { surface: "readonly" }, verdict: { kind: "tool_surface", disallow: ["reset"] } },
        ],
      },
    ]);
    expect(Object.isFrozen(app[kDefinition].views)).toBe(true);
  });

  it("views() keeps a source of rules without reading it", () => {
    let reads = 0;
    const rules = cellSource<ViewRules>([]);
    const counted = { ...rules, get: () => (reads++, rules.get()) };
    expect(linked().views(counted)[kDefinition].views).toBe(counted);
    expect(reads).toBe(0);
  });

  it("views() is refused on an app without a link, and when it is called twice", () => {
    expectRefusal(() => any(mcp(counter)).views({ a: {} }), "NOT_LINKED", "call bridge() or implement() first");
    const app = linked().views({ a: {} });
    expectRefusal(() => app.views({ b: {} }), "INVALID_OPTION", "call it once");
    expectRefusal(() => app.tools({ x: { handler } }).views({ b: {} }), "INVALID_OPTION", "call it once");
  });

  it.each([
    ["nothing", undefined, "the input"],
    ["a number", 1, "the input"],
    ["a view with a key of no view", { v: { alow: [] } }, '"alow"'],
    ["a view with another face", { v: { face: "both" } }, 'view "v": "face"'],
    ["a rule with another kind", [{ id: "r", verdict: { kind: "allow" } }], '"r"'],
    ["a packet of another domain", { id: "p", domain: "x/y", rules: [] }, 'packet "p": "domain"'],
    ["no view", {}, "has 0"],
  ])("views() refuses rules, with the path, when they are %s", (_what, input, place) => {
    expectRefusal(() => linked().views(input), "INVALID_OPTION", place);
  });

  it.each([
    ["no object", 1, "its options must be an object"],
    ["null", null, "its options must be an object"],
    ["of another name", { repaly: true }, '"repaly" is not an option'],
    ["no flag", { replay: "yes" }, '"replay" must be true or false'],
  ])("views() refuses options when they are %s", (_what, options, sentence) => {
    expectRefusal(() => linked().views({ a: {} }, options), "INVALID_OPTION", sentence);
  });

  const gateway = { hub: { face: "gateway" } };
  const rules = cellSource<ViewRules>([]);
  it.each<[string, string, () => AnyStage]>([
    [
      "a tool has the name of one of a gateway",
      'tool "list"',
      () => linked().tools({ list: { handler } }).views(gateway),
    ],
    [
      "a tool gets the name of one of a gateway",
      'tool "call"',
      () => linked().views(gateway).tools({ call: { handler } }),
    ],
    [
      "rules show a gateway",
      'tool "search"',
      () =>
        linked()
          .views([{ verdict: { kind: "tool_surface", face: "gateway" } }])
          .tools({ search: { handler } }),
    ],
    [
      "the rules of a source may show one some day",
      'tool "schema"',
      () => linked().views(rules).tools({ schema: { handler } }),
    ],
    [
      "a tool has the name of the one that replays",
      'tool "replay"',
      () => linked().tools({ replay: { handler } }).views({ a: {} }, { replay: true }),
    ],
    [
      "a tool gets the name of the one that replays",
      'tool "replay"',
      () => linked().views({ a: {} }, { replay: true }).tools({ replay: { handler } }),
    ],
  ])("an app is refused, with both origins named, when %s", (_when, origin, make) => {
    const error = refused(make);
    expect(error.code).toBe("NAME_COLLISION");
    expect(error.message.split(origin).length).toBeGreaterThanOrEqual(2);
    expect(error.message).toMatch(/of the gateway|of views\(\)/);
  });

  it("rules from a source can turn a gateway on later", () => {
    const later = (): AnyStage => linked().views(rules).tools({ schema: { handler } });
    expect(refused(later).message).toBe(
      'Cannot name tool "schema" of the gateway, which rules may turn on later: the wire name "schema" is taken by tool "schema"; rename one of them',
    );
    expect(refused(() => linked().views(gateway).tools({ call: { handler } })).message).not.toContain("later");
  });

  it("the names of the gateway's tools are free without a gateway view", () => {
    const app = linked()
      .tools({ list: { handler }, call: { handler }, replay: { handler } })
      .views({ a: { face: "direct" }, b: { deny: "closed" } });
    expect([...app[kDefinition].tools.keys()]).toEqual(["list", "call", "replay"]);
  });
});

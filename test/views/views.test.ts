import { atom } from "nanostores";
import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { cellSource } from "../../src/surface/source.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { Views } from "../../src/views/views.ts";
import type { ViewEntity, ViewPacket, ViewRule, ViewRules } from "../../src/views/view-rules.ts";
import { thrownBy } from "../catalog/support.ts";

const shows = { kind: "tool_surface" } as const;
const unknown = { kind: "deny", reason: "unknown MCP surface" };
const unreadable = { kind: "deny", reason: "the view rules cannot be read" };

function deny(reason: string, when?: ViewRule["when"]): ViewRule {
  return { ...(when === undefined ? {} : { when }), verdict: { kind: "deny", reason } };
}

function packetOf(id: string, rules: readonly ViewRule[], project?: string): ViewPacket {
  return { id, domain: "mcp-surface/routing", ...(project === undefined ? {} : { project }), rules };
}

/** Reads what was said of somebody. */
function reasonOf(rules: ViewRules, entity: ViewEntity): string {
  const { verdict } = new Views(rules).decide(entity);
  return verdict.kind === "deny" ? verdict.reason : "shown";
}

/** Rules that may be replaced by anything at all. */
function looseSource(initial: unknown): {
  readonly source: ReturnType<typeof cellSource<ViewRules>>;
  readonly set: (value: unknown) => void;
} {
  // Whoever keeps rules somewhere may keep nonsense there.
  const source = cellSource<ViewRules>(initial as ViewRules);
  return { source, set: (value) => source.set(value as ViewRules) };
}

describe("decisions about views", () => {
  it("the default view shows everything and any other is denied when there are no rules (B8)", () => {
    const views = new Views(undefined);
    expect(views.decide({ surface: "default" })).toEqual({ verdict: shows });
    expect(views.decide({ surface: "readonly" })).toEqual({ verdict: unknown });
    expect(views.canChange).toBe(false);
  });

  it("the default view shows everything and any other is denied when no rule fits (B8)", () => {
    const views = new Views({ readonly: { readOnly: true } });
    expect(views.decide({ surface: "default" }).verdict).toEqual(shows);
    expect(views.decide({ surface: "Readonly" }).verdict).toEqual(unknown);
    expect(views.decide({ surface: "readonly" })).toEqual({
      packet: "views",
      rule: "readonly",
      verdict: { kind: "tool_surface", readOnly: true },
    });
  });

  it("the default view follows its rule if there is one (B8)", () => {
    expect(reasonOf([deny("ask for one", { surface: "default" })], { surface: "default" })).toBe("ask for one");
  });

  it.each<[string, ViewRule["when"], ViewEntity, boolean]>([
    ["nothing is asked for", undefined, { surface: "a" }, true],
    ["an empty condition", {}, { surface: "a" }, true],
    ["one value", { surface: "a" }, { surface: "a" }, true],
    ["one of several", { surface: ["b", "a"] }, { surface: "a" }, true],
    ["none of several", { surface: ["b", "c"] }, { surface: "a" }, false],
    ["all of the fields", { surface: "a", principal: "ci" }, { surface: "a", principal: "ci" }, true],
    ["one field of two", { surface: "a", principal: "ci" }, { surface: "a", principal: "me" }, false],
    ["a field that is not known", { user_agent: "curl" }, { surface: "a" }, false],
    [
      "a client's name",
      { client: { name: "claude" } },
      { surface: "a", client: { name: "claude", version: "1" } },
      true,
    ],
    [
      "a client's version",
      { client: { version: "2" } },
      { surface: "a", client: { name: "claude", version: "1" } },
      false,
    ],
    ["a client that is not known", { client: { name: "claude" } }, { surface: "a" }, false],
    ["a pattern, which conditions are not", { surface: "*" }, { surface: "a" }, false],
  ])("a rule is for an entity or not when it asks for %s (B6)", (...[, when, entity, isFor]) => {
    expect(reasonOf([deny("fits", when)], entity)).toBe(isFor ? "fits" : "unknown MCP surface");
  });

  it("the first rule that fits decides when several do (B6)", () => {
    const rules = [deny("one", { principal: "ci" }), deny("two", { surface: "a" }), deny("three")];
    expect(reasonOf(rules, { surface: "a" })).toBe("two");
    expect(reasonOf(rules, { surface: "a", principal: "ci" })).toBe("one");
    expect(new Views(rules).decide({ surface: "b" }).rule).toBe("3");
  });

  it("the latest packet of a scope applies, and a project's instead of the one for all (B7)", () => {
    const packets = [
      packetOf("old", [deny("old")]),
      packetOf("site", [deny("site", { surface: "a" })], "site"),
      packetOf("new", [deny("new")]),
    ];
    expect(reasonOf(packets, { surface: "a" })).toBe("new");
    expect(reasonOf(packets, { surface: "a", project: "other" })).toBe("new");
    expect(reasonOf(packets, { surface: "a", project: "site" })).toBe("site");
    // Nothing of the other packet holds there.
    expect(reasonOf(packets, { surface: "b", project: "site" })).toBe("unknown MCP surface");
    expect(reasonOf(packets, { surface: "default", project: "site" })).toBe("shown");
  });

  it("two entities with the same rule get one object (B20)", () => {
    const views = new Views([deny("no", { surface: ["a", "b"] })]);
    expect(views.decide({ surface: "a" })).toBe(views.decide({ surface: "b", user_agent: "curl" }));
    expect(Object.isFrozen(views.decide({ surface: "a" }))).toBe(true);
  });

  it("decisions stay correct after ten thousand names (B20)", () => {
    const views = new Views({ readonly: { readOnly: true } });
    for (let index = 0; index < 10_000; index++)
      expect(views.decide({ surface: `s${index}` }).verdict).toEqual(unknown);
    expect(views.decide({ surface: "readonly" }).rule).toBe("readonly");
    expect(views.decide({ surface: "default" }).verdict).toEqual(shows);
  });

  it("the first matching rule of ten thousand decides, by any of its fields (B6)", () => {
    const named = (index: number): ViewRule => deny(`v${index}`, { surface: `v${index}` });
    const rules = [
      deny("ci", { surface: ["v1", "v2"], principal: "ci" }),
      ...Array.from({ length: 9996 }, (_none, index) => named(index)),
      deny("curl", { user_agent: "curl" }),
      deny("late", { surface: "v2" }),
      deny("rest"),
    ];
    const views = new Views(rules);
    const reason = (entity: ViewEntity): unknown => views.decide(entity).verdict;
    expect(reason({ surface: "v2", principal: "ci" })).toMatchObject({ reason: "ci" });
    expect(reason({ surface: "v9995", principal: "ci", user_agent: "curl" })).toMatchObject({ reason: "v9995" });
    expect(reason({ surface: "w", user_agent: "curl" })).toMatchObject({ reason: "curl" });
    expect(reason({ surface: "v2" })).toMatchObject({ reason: "v2" });
    expect(reason({ surface: "w" })).toMatchObject({ reason: "rest" });
  });

  it("decisions are not mixed up when fields could run into each other (B20)", () => {
    const rules = [deny("x", { user_agent: "a", project: "b" }), deny("y", { user_agent: 'a","b' })];
    const views = new Views(rules);
    expect(views.decide({ surface: "s", user_agent: 'a","b' }).rule).toBe("2");
    expect(views.decide({ surface: "s", user_agent: "a", project: "b" }).rule).toBe("1");
    expect(views.decide({ surface: "s", user_agent: "a" }).verdict).toEqual(unknown);
    expect(views.decide({ surface: "s", user_agent: "null", project: "b" }).verdict).toEqual(unknown);
  });
});

describe("rules that may be replaced", () => {
  it("new rules from a source apply, and are announced once (B15)", () => {
    const source = cellSource<ViewRules>([deny("one")]);
    const views = new Views(source);
    let told = 0;
    const stop = views.subscribe(() => told++);
    expect(views.decide({ surface: "a" }).verdict).toEqual({ kind: "deny", reason: "one" });
    source.set([deny("two")]);
    expect(views.decide({ surface: "a" }).verdict).toEqual({ kind: "deny", reason: "two" });
    expect([told, views.canChange]).toEqual([1, true]);
    stop();
    source.set([deny("three")]);
    expect(told).toBe(1);
  });

  it("rules follow a nanostores atom", () => {
    const rules = atom<ViewRules>([deny("one")]);
    const views = new Views(rules);
    let told = 0;
    views.subscribe(() => told++);
    rules.set([deny("two")]);
    expect([views.decide({ surface: "a" }).verdict, told]).toEqual([{ kind: "deny", reason: "two" }, 1]);
    views.close();
  });

  it("an equal value from a source is no change", () => {
    const rules: ViewRules = [deny("one")];
    const listeners: ((value: ViewRules) => void)[] = [];
    const views = new Views({ get: () => rules, subscribe: (fn) => (listeners.push(fn), () => {}) });
    let told = 0;
    views.subscribe(() => told++);
    for (const listener of listeners) listener(rules);
    expect(told).toBe(0);
  });

  it.each<[string, () => unknown]>([
    ["malformed", () => [{ verdict: { kind: "allow" } }]],
    ["no rules", () => []],
    ["null", () => null],
    ["nothing at all", () => undefined],
    ["a promise that fails", () => Promise.reject(new Error("secret"))],
  ])("everybody is denied, and the log hears why, when new rules are %s (B9)", (_what, broken) => {
    const faults: Fault[] = [];
    const { source, set } = looseSource([deny("one")]);
    const views = new Views(source, { report: (fault) => faults.push(fault) });
    set(broken());
    expect(views.installed).toMatchObject({ packets: [], unreadable: unreadable.reason });
    for (const surface of ["default", "a"]) expect(views.decide({ surface }).verdict).toEqual(unreadable);
    expect(faults).toHaveLength(1);
    set([deny("good again")]);
    expect(views.decide({ surface: "a" }).verdict).toEqual({ kind: "deny", reason: "good again" });
  });

  it("everybody is denied, by words that say nothing of it, when a source throws (B9)", () => {
    const faults: Fault[] = [];
    let tell = (_value: ViewRules): void => {};
    const views = new Views(
      {
        get() {
          throw new Error("ENOENT: /etc/secret");
        },
        subscribe: (fn) => ((tell = fn), () => {}),
      },
      { report: (fault) => faults.push(fault) },
    );
    tell([]);
    tell([]);
    expect(views.decide({ surface: "default" }).verdict).toEqual(unreadable);
    expect(JSON.stringify(views.installed)).not.toContain("secret");
    expect(faults).toHaveLength(1);
  });

  it("everybody is denied when a source cannot be subscribed to (B9)", () => {
    const views = new Views(
      {
        get: () => [deny("one")],
        subscribe() {
          throw new Error("no");
        },
      },
      { report: () => {} },
    );
    expect(views.decide({ surface: "default" }).verdict).toEqual(unreadable);
  });

  it("the other listeners are called when one throws", () => {
    const source = cellSource<ViewRules>([deny("one")]);
    const faults: Fault[] = [];
    const views = new Views(source, { report: (fault) => faults.push(fault) });
    let told = 0;
    views.subscribe(() => {
      throw new Error("mine");
    });
    views.subscribe(() => told++);
    source.set([deny("two")]);
    expect([told, faults.length]).toEqual([1, 1]);
  });

  it("nothing is taken any more when the views are closed, twice", () => {
    const source = cellSource<ViewRules>([deny("one")]);
    const views = new Views(source);
    views.close();
    views.close();
    source.set([deny("two")]);
    expect(views.decide({ surface: "a" }).verdict).toEqual({ kind: "deny", reason: "one" });
  });

  it("malformed rules without a source are thrown (B5)", () => {
    const bad: unknown = { hub: { face: "three" } };
    // As a caster would.
    const thrown = thrownBy(() => new Views(bad as ViewRules));
    expect(thrown).toBeInstanceOf(SurfaceError);
  });

  it("a gateway is refused, at boot and later, when the app has a tool with the name of one of its four", () => {
    const tools = [{ name: "search", origin: 'tool "search"' }];
    const hub: ViewRules = [{ id: "hub", verdict: { kind: "tool_surface", face: "gateway" } }];
    const thrown = thrownBy(() => new Views(hub, { tools }));
    expect(thrown).toMatchObject({
      code: "NAME_COLLISION",
      message:
        'Cannot name tool "search": the wire name "search" is taken by tool "search" of the gateway that rule "hub" of packet "views" shows; rename it',
    });
    const source = cellSource<ViewRules>([deny("one")]);
    const views = new Views(source, { tools, report: () => {} });
    source.set(hub);
    expect(views.decide({ surface: "default" }).verdict).toEqual(unreadable);
  });
});

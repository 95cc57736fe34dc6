import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/errors.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { readState, settled, show, stage, state, type Shown } from "./support.ts";

/** How often it was told that something has changed, by path. */
function watchAll({ source }: Shown, paths: readonly string[]): Record<string, number> {
  const told: Record<string, number> = Object.fromEntries(paths.map((path) => [path, 0]));
  for (const path of paths)
    source.watch?.(path, () => void (told[path] = (told[path] ?? 0) + 1), { caller: anonymous });
  return told;
}

describe("the states of a service", () => {
  it("A11 are not read by default", () => {
    const staged = stage({ actions: {}, states: { hp: state(3) } });
    const shown = show(staged.service);
    expect(staged.states.opened).toBe(0);
    expect(shown.names()).toEqual([]);
    expect("resources" in shown.source).toBe(false);
  });

  it("A11 are resources with the descriptions of their schemas if the option is set", () => {
    const schema = { type: "number", title: "Health", description: "From 0 to 10" };
    const { service } = stage({ states: { hp: state(3, schema), "a b": state("x") } });
    const shown = show(service, {
      states: "resource",
      describeState: (key, path) => ({ scopes: [`see:${[...path, key].join(".")}`] }),
    });
    expect(shown.source.resources?.()).toEqual([
      { path: "state/hp", title: "Health", description: "From 0 to 10", scopes: ["see:hp"] },
      { path: "state/a%20b", scopes: ["see:a b"] },
    ]);
    expect(readState(shown, "state/hp")).toBe(3);
    expect(readState(shown, "state/a%20b")).toBe("x");
    expect(shown.names()).toEqual([]);
  });

  it("A12 notify only their own watchers when their value changes", async () => {
    const { service, states, actions } = stage({ actions: {}, states: { hp: state(3), mp: state(1) } });
    const shown = show(service, { states: "resource" });
    const told = watchAll(shown, ["state/hp", "state/mp"]);
    states.tell({ hp: state(4), mp: state(1) });
    await settled();
    expect(told).toEqual({ "state/hp": 1, "state/mp": 0 });
    states.tell({ hp: state(4), mp: state(2) });
    await settled();
    expect(told).toEqual({ "state/hp": 1, "state/mp": 1 });
    actions.tell({ heal: {} });
    await settled();
    expect(told).toEqual({ "state/hp": 1, "state/mp": 1 });
    expect(shown.changes()).toBe(1);
  });

  it("A12 count as changed when the same object is announced again, since its fields may differ", async () => {
    const position = { x: 1 };
    const { service, states, actions } = stage({ actions: {}, states: { pos: state(position) } });
    const shown = show(service, { states: "resource" });
    const told = watchAll(shown, ["state/pos"]);
    position.x = 2;
    states.tell({ pos: state(position) });
    await settled();
    expect(told).toEqual({ "state/pos": 1 });
    actions.tell({ heal: {} });
    await settled();
    expect(told).toEqual({ "state/pos": 1 });
  });

  it("A12 tell once when a thousand values come in a tick", async () => {
    const { service, states } = stage({ states: { hp: state(0) } });
    const shown = show(service, { states: "resource" });
    const told = watchAll(shown, ["state/hp"]);
    for (let hp = 1; hp <= 1000; hp += 1) states.tell({ hp: state(hp) });
    expect(readState(shown, "state/hp")).toBe(1000);
    await settled();
    expect(told).toEqual({ "state/hp": 1 });
  });

  it("A12 change the list when one appears or goes, and not when only values change", async () => {
    const { service, states } = stage({ states: { hp: state(3) } });
    const shown = show(service, { states: "resource" });
    const told = watchAll(shown, ["state/hp"]);
    const [before] = shown.source.resources?.() ?? [];
    states.tell({ hp: state(3), mana: state(1) });
    await settled();
    expect(shown.changes()).toBe(1);
    expect(shown.source.resources?.()[0]).toBe(before);
    states.tell({ mana: state(1) });
    await settled();
    expect(shown.changes()).toBe(2);
    expect(shown.paths()).toEqual(["state/mana"]);
    expect(readState(shown, "state/hp")).toBeUndefined();
    expect(told).toEqual({ "state/hp": 1 });
    states.tell({ hp: state(3), mana: state(1) });
    await settled();
    expect(told).toEqual({ "state/hp": 2 });
  });

  it("do not exist while their value is undefined", () => {
    const shown = show(stage({ states: { hp: state(undefined), mana: state(null) } }).service, { states: "resource" });
    expect(shown.paths()).toEqual(["state/mana"]);
  });

  it("A13 are returned by one tool, all or the requested ones, if the option is set", async () => {
    const { service } = stage({ states: { hp: state(3), "a.b": state("x"), ["__proto__"]: state(1) }, actions: {} });
    const shown = show(service, { states: "tool" });
    expect(shown.source.list()).toMatchObject([{ name: "get_state", type: "query" }]);
    expect(JSON.stringify(await shown.invoke("get_state", {}))).toBe('{"hp":3,"a%2Eb":"x","__proto__":1}');
    expect(await shown.invoke("get_state", { keys: ["hp"] })).toEqual({ hp: 3 });
    expect(await shown.invoke("get_state", { keys: [] })).toEqual({});
  });

  it("A13 are refused by name when a requested one is hidden or unknown", () => {
    const { service, states } = stage({ states: { hp: state(3) } });
    const shown = show(service, { states: "tool" });
    states.tell({});
    expect(() => shown.invoke("get_state", { keys: ["hp"] })).toThrow(
      new Refusal("UNKNOWN_STATE", 'there is no state "hp"'),
    );
    expect(() => shown.invoke("get_state", { keys: ["mp"] })).toThrow(
      new Refusal("UNKNOWN_STATE", 'there is no state "mp"'),
    );
  });

  it("A13 are listed with a reason, and reported, when they cannot be written, requested or not", async () => {
    const broken = {
      get half() {
        throw new Error("a secret of the game");
      },
    };
    const { service } = stage({ states: { hp: state(3), "a.b": state(() => 1), half: state(broken) } });
    const shown = show(service, { states: "tool" });
    const reasons = { "a%2Eb": "it holds a value that JSON cannot represent", half: "it cannot be read" };
    expect(await shown.invoke("get_state", {})).toEqual({ hp: 3, "%unreadable": reasons });
    expect(shown.faults).toHaveLength(2);
    expect(await shown.invoke("get_state", { keys: ["half"] })).toEqual({ "%unreadable": { half: reasons.half } });
    expect(await shown.invoke("get_state", { keys: ["hp"] })).toEqual({ hp: 3 });
  });

  it("have names other than the key of the list of unreadable states", async () => {
    const { service } = stage({ states: { "%unreadable": state(1), run: state(Symbol("s")) } });
    const shown = show(service, { states: "tool" });
    expect(Object.keys((await shown.invoke("get_state", {})) as object)).toEqual(["%25unreadable", "%unreadable"]);
  });

  it("exclude an action with the name of their tool, and report both", () => {
    const { service } = stage({ states: {}, actions: { get_state: {}, heal: {} } });
    const shown = show(service, { states: "tool" });
    expect(shown.names()).toEqual(["get_state", "heal"]);
    expect(shown.messages()).toEqual([
      'Cannot list action "get_state": its name is taken by tool "get_state" of the mount; it is left out',
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/errors.ts";
import { readState, settled, show, stage, state, type Shown } from "./support.ts";

/** How often it was told that something has changed, by path. */
function watchAll({ source }: Shown, paths: readonly string[]): Record<string, number> {
  const told: Record<string, number> = Object.fromEntries(paths.map((path) => [path, 0]));
  for (const path of paths) source.watch?.(path, () => void (told[path] = (told[path] ?? 0) + 1));
  return told;
}

describe("the states of a service", () => {
  it("A11 are not looked at when nothing is said of them", () => {
    const staged = stage({ actions: {}, states: { hp: state(3) } });
    const shown = show(staged.service);
    expect(staged.states.opened).toBe(0);
    expect(shown.names()).toEqual([]);
    expect("resources" in shown.source).toBe(false);
  });

  it("A11 are resources, with the words of their schemas, when they are asked for as such", () => {
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

  it("A12 tell those who watch them, and nobody else, when their value changes", async () => {
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

  it("A12 tell that there may be something else when an object is told again, whose parts may be others", async () => {
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

  it("A12 are told to have changed as a list when one appears or goes, and not when only values do", async () => {
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

  it("are not there when their value is undefined", () => {
    const shown = show(stage({ states: { hp: state(undefined), mana: state(null) } }).service, { states: "resource" });
    expect(shown.paths()).toEqual(["state/mana"]);
  });

  it("A13 are answered by one tool, all or those that are asked for, when they are asked for as such", async () => {
    const { service } = stage({ states: { hp: state(3), "a.b": state("x"), ["__proto__"]: state(1) }, actions: {} });
    const shown = show(service, { states: "tool" });
    expect(shown.source.list()).toMatchObject([{ name: "get_state", type: "query" }]);
    expect(JSON.stringify(await shown.invoke("get_state", {}))).toBe('{"hp":3,"a%2Eb":"x","__proto__":1}');
    expect(await shown.invoke("get_state", { keys: ["hp"] })).toEqual({ hp: 3 });
    expect(await shown.invoke("get_state", { keys: [] })).toEqual({});
  });

  it("A13 are refused by name when one is asked for that is hidden, or that never was", () => {
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

  it("A13 are named with a reason, and told of, when they cannot be written, asked for or not", async () => {
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

  it("keep a name that cannot be taken for the one under which unreadable states are listed", async () => {
    const { service } = stage({ states: { "%unreadable": state(1), run: state(Symbol("s")) } });
    const shown = show(service, { states: "tool" });
    expect(Object.keys((await shown.invoke("get_state", {})) as object)).toEqual(["%25unreadable", "%unreadable"]);
  });

  it("leave an action out, and tell of both, when it is called as their tool is", () => {
    const { service } = stage({ states: {}, actions: { get_state: {}, heal: {} } });
    const shown = show(service, { states: "tool" });
    expect(shown.names()).toEqual(["get_state", "heal"]);
    expect(shown.messages()).toEqual([
      'Cannot list action "get_state": its name is taken by tool "get_state" of the mount; it is left out',
    ]);
  });
});

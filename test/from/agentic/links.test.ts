import { describe, expect, it } from "vitest";
import { mcpAgentic } from "../../../src/builder/mcp-agentic.ts";
import type { AgenticServices } from "../../../src/from/agentic/agentic-service.ts";
import type { AgenticService } from "../../../src/from/agentic/service-shape.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { act, settled, show, stage, state, type Staged } from "./support.ts";

const all = { links: true, states: "resource" } as const;

function cat(name = "cat"): Staged {
  return stage({ name, actions: { pet: act() }, states: { mood: state("wary") } });
}

describe("the links of a service", () => {
  it("are not read by default", () => {
    const staged = stage({ actions: { move: act() }, links: { cat: cat().service } });
    expect(show(staged.service).names()).toEqual(["move"]);
    expect(staged.links.opened).toBe(0);
  });

  it("A15 show a child's actions under the key of the link, at any depth", async () => {
    const flea = stage({ name: "flea", actions: { jump: act() }, states: { at: state(1) } });
    const child = stage({ actions: { pet: act() }, states: { mood: state("wary") }, links: { flea: flea.service } });
    const root = stage({ actions: { move: act() }, states: { hp: state(1) }, links: { cat: child.service } });
    const shown = show(root.service, all);
    expect(shown.names()).toEqual(["move", "cat.pet", "cat.flea.jump"]);
    expect(shown.paths()).toEqual(["state/hp", "cat/state/mood", "cat/flea/state/at"]);
    await shown.invoke("cat.flea.jump");
    expect([root.ran, child.ran, flea.ran]).toEqual([[], [], [["jump", undefined]]]);
  });

  it("A16 lead to another service after a change, with one notification", async () => {
    const [first, second] = [cat("first"), cat("second")];
    const root = stage({ actions: {}, links: { pet: first.service } });
    const shown = show(root.service, all);
    second.actions.tell({ feed: act() });
    root.links.tell({ pet: second.service });
    await settled();
    expect(shown.changes()).toBe(1);
    expect(shown.names()).toEqual(["pet.feed"]);
    expect([first.actions, first.states].map(({ opened, ended }) => [opened, ended])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(second.actions.opened).toBe(1);
  });

  it("A16 run an action on the service that they lead to now when two services share it", async () => {
    const pet = act();
    const [first, second] = [stage({ actions: { pet } }), stage({ actions: { pet } })];
    const root = stage({ actions: {}, links: { cat: first.service } });
    const shown = show(root.service, { links: true });
    root.links.tell({ cat: second.service });
    await settled();
    await shown.invoke("cat.pet");
    expect([first.ran, second.ran]).toEqual([[], [["pet", undefined]]]);
  });

  it("A16 hide everything behind them when they go", async () => {
    const flea = stage({ actions: { jump: act() } });
    const child = stage({ actions: { pet: act() }, links: { flea: flea.service } });
    const root = stage({ actions: { move: act() }, links: { cat: child.service } });
    const shown = show(root.service, all);
    root.links.tell({});
    await settled();
    expect(shown.names()).toEqual(["move"]);
    expect(shown.changes()).toBe(1);
    expect([flea.actions.ended, child.links.ended]).toEqual([1, 1]);
    expect(() => shown.invoke("cat.flea.jump")).toThrow("there is no operation of this name");
  });

  it("A16 keep observing a service when it is only called otherwise", async () => {
    const child = cat();
    const root = stage({ actions: {}, links: { cat: child.service } });
    const shown = show(root.service, all);
    root.links.tell({ tiger: child.service });
    await settled();
    expect(shown.names()).toEqual(["tiger.pet"]);
    expect([child.actions.opened, child.actions.ended]).toEqual([1, 0]);
  });

  it("A17 are not followed back to themselves, or to a service on the way", () => {
    const child = stage({ name: "child", actions: { pet: act() }, links: {} });
    const root = stage({ name: "root", actions: { move: act() }, links: { child: child.service } });
    root.links.tell({ me: root.service, child: child.service });
    child.links.tell({ parent: root.service });
    expect(show(root.service, all).names()).toEqual(["move", "child.pet"]);
  });

  it("A17 show a service under each way that leads to it, and observe it once", () => {
    const shared = cat();
    const [left, right] = [
      stage({ actions: {}, links: { cat: shared.service } }),
      stage({ actions: {}, links: { cat: shared.service } }),
    ];
    const root = stage({ actions: {}, links: { left: left.service, right: right.service } });
    const shown = show(root.service, all);
    expect(shown.names()).toEqual(["left.cat.pet", "right.cat.pet"]);
    expect([shared.actions.opened, shared.states.opened, shared.links.opened]).toEqual([1, 1, 0]);
  });

  it("A17 are followed to a depth of 8, with a report", () => {
    let service = stage({ actions: { end: act() }, links: {} }).service;
    for (let depth = 0; depth < 10; depth += 1)
      service = stage({ actions: { at: act() }, links: { n: service } }).service;
    const shown = show(service, { links: true });
    expect(shown.names()).toHaveLength(9);
    expect(shown.names().at(-1)).toBe("n.n.n.n.n.n.n.n.at");
    expect(shown.messages()).toEqual([
      'Cannot follow link "n.n.n.n.n.n.n.n.n": more than 8 links lead to it; it is left out',
    ]);
  });

  it("A17 are followed along a bounded number of paths, with one report", () => {
    let level: readonly AgenticService[] = [stage({ actions: { at: act() } }).service];
    for (let depth = 0; depth < 7; depth += 1) {
      const [next] = level;
      const links = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`n${at}`, next ?? level[0]]));
      // All of them are there: the first level has one.
      level = [stage({ actions: { at: act() }, links: links as Record<string, AgenticService> }).service];
    }
    const shown = show(level[0] ?? stage().service, { links: true });
    expect(shown.names()).toHaveLength(1001);
    expect(shown.messages()).toEqual(["Cannot follow all links: there are more than 1000"]);
  });

  it("A18 are listed by a tool, with those that lead back, if the option is set", async () => {
    const child = stage({ name: "child", actions: {}, links: {} });
    const root = stage({ name: "root", actions: {}, links: { me: stage().service, "a.b": child.service } });
    child.links.tell({ parent: root.service, self: child.service });
    const shown = show(root.service, { listLinks: true });
    expect(shown.names()).toEqual(["list_links"]);
    expect(await shown.invoke("list_links")).toEqual({
      links: [
        { path: "me", target: "game" },
        { path: "a_x2e_b", target: "child" },
        { path: "a_x2e_b.parent", target: "root", cycleTo: "" },
        { path: "a_x2e_b.self", target: "child", cycleTo: "a_x2e_b" },
      ],
    });
    // What is behind them is not shown, and not looked at.
    expect(child.actions.opened).toBe(0);
  });

  it("A22 have the name of their service as prefix among several services, and none for a single one", async () => {
    const [game, town] = [
      stage({ name: "game", actions: { move: act() } }),
      stage({ name: "the town", actions: { move: act() } }),
    ];
    expect(show([game.service]).names()).toEqual(["move"]);
    const shown = show([game.service, town.service]);
    expect(shown.names()).toEqual(["game.move", "the_x20_town.move"]);
    await shown.invoke("the_x20_town.move");
    expect(town.ran).toEqual([["move", undefined]]);
  });

  it("A22 have the given name as prefix, and not the service's own name", async () => {
    const [shop, bank] = [
      stage({ name: "one", actions: { open: act() } }),
      stage({ name: "one", actions: { open: act() }, states: { cash: state(1) } }),
    ];
    const shown = show({ shop: shop.service, "my bank": bank.service }, { states: "resource" });
    expect(shown.names()).toEqual(["shop.open", "my_x20_bank.open"]);
    expect(shown.paths()).toEqual(["my%20bank/state/cash"]);
    await shown.invoke("my_x20_bank.open");
    expect([shop.ran.length, bank.ran.length]).toEqual([0, 1]);
    expect(show({ shop: shop.service }).names()).toEqual(["shop.open"]);
    const agent = createTestClient(mcpAgentic({ shop: shop.service, bank: bank.service }));
    expect(await agent.toolNames()).toEqual(["bank_open", "shop_open"]);
    await agent.close();
  });

  it.each<[string, AgenticServices, string]>([
    ["there are none", [], "pass at least one"],
    ["there are none by name", {}, "pass at least one"],
    ["one of a name is none", { shop: {} as AgenticService }, "must have the functions states, actions and execute"],
    ["two have one name", [stage().service, stage().service], '"game" and service "game" both have the name "game"'],
    ["one of several has no name", [stage().service, { ...stage().service, serviceName: "" }], "must have a"],
    // What a caller who casts may hand over.
    ["one is none", [{} as AgenticService], "must have the functions states, actions and execute"],
  ])("A22 are refused when %s", (_when, services, message) => {
    expect(() => show(services)).toThrow(message);
  });
});

import { describe, expect, it } from "vitest";
import { isContent, kContent } from "../../../src/catalog/content/content.ts";
import { Refusal } from "../../../src/errors.ts";
import type { AgenticAction } from "../../../src/from/agentic/service-shape.ts";
import { act, settled, show, stage, type Actions } from "./support.ts";

const number = { type: "number" };
const object = { type: "object", properties: { by: number }, required: ["by"], additionalProperties: false };

/** What an answer says: its blocks, and whether it is an error. */
function said(answer: unknown): unknown {
  return isContent(answer) ? { blocks: answer[kContent].blocks, isError: answer[kContent].isError === true } : answer;
}

describe("the actions of a service", () => {
  it("A1 are listed when they are announced at once, and again when they are announced later, with no notification for equal ones", async () => {
    const { service, actions } = stage({ actions: { heal: act(), flee: act() } });
    const shown = show(service);
    expect(shown.names()).toEqual(["heal", "flee"]);
    actions.tell({ heal: act(), flee: act() });
    await settled();
    expect(shown.changes()).toBe(0);
    actions.tell({ heal: act() });
    await settled();
    expect(shown.changes()).toBe(1);
    expect(shown.names()).toEqual(["heal"]);
  });

  it("A1 have the new input when a schema was changed in place and announced again", async () => {
    const to = { enum: ["left"] };
    const go: AgenticAction = { description: "go", schema: { type: "object", properties: { to } } };
    const { service, actions } = stage({ actions: { go } });
    const shown = show(service);
    const [before] = shown.source.list();
    actions.tell({ go });
    await settled();
    expect(shown.source.list()[0]).toBe(before);
    to.enum.push("right");
    actions.tell({ go });
    await settled();
    expect(shown.changes()).toBe(1);
    expect(shown.source.list()[0]?.inputSchema).toEqual({
      ...{ type: "object", properties: { to: { enum: ["left", "right"] } } },
    });
  });

  it.each<[string, AgenticAction, unknown]>([
    ["without parameters", { parameters: [], execute: () => 1 }, undefined],
    ["of one parameter", { parameters: [number], execute: () => 1 }, number],
    ["of one object", { parameters: [object], execute: () => 1 }, object],
    ["with a schema", { description: "d", schema: object }, object],
    ["with no schema", { description: "d" }, undefined],
    ["with a schema that nothing fits", { schema: false }, undefined],
    ["with a schema that all fits", { schema: true }, {}],
    [
      "of several parameters",
      { parameters: [number, object], execute: () => 1 },
      {
        type: "object",
        properties: { arg0: number, arg1: object },
        required: ["arg0", "arg1"],
        additionalProperties: false,
      },
    ],
  ])("A2 and A3 have the input of an action that is %s", (_shape, action, schema) => {
    const shown = show(stage({ actions: { it: action } }).service);
    expect(shown.source.list()[0]?.inputSchema).toEqual(schema);
  });

  it("A3 run through the service with one input, and directly with several", async () => {
    const given: unknown[] = [];
    const add: AgenticAction = {
      parameters: [number, number],
      execute(this: unknown, ...args: unknown[]) {
        given.push([this === add, ...args]);
        return { sum: 3 };
      },
    };
    const staged = stage({ actions: { add, heal: { schema: number }, rest: act() }, execute: () => undefined });
    const shown = show(staged.service);
    expect(await shown.invoke("add", { arg0: 1, arg1: 2 })).toEqual({ sum: 3 });
    await shown.invoke("heal", 5);
    await shown.invoke("rest");
    expect(given).toEqual([[true, 1, 2]]);
    expect(staged.ran).toEqual([
      ["heal", 5],
      ["rest", undefined],
    ]);
  });

  it("A5 are missing before they are announced, and listed afterwards", async () => {
    const { service, actions } = stage();
    const shown = show(service);
    expect(shown.names()).toEqual([]);
    actions.tell({ heal: act() });
    // Seen by whoever looks before anybody was told.
    expect(shown.names()).toEqual(["heal"]);
    await settled();
    expect(shown.changes()).toBe(1);
  });

  it.each<[string, Actions, number]>([
    ["one is added", { heal: act("d"), flee: act() }, 1],
    ["one is gone", {}, 1],
    ["one has another name", { cure: act("d") }, 1],
    ["one has another description", { heal: act("e") }, 1],
    ["one takes something else", { heal: { description: "d", schema: number } }, 1],
    ["one is written in the other form", { heal: { description: "d" } }, 0],
    ["one does something else", { heal: { ...act("d"), execute: () => 7 } }, 0],
  ])("A6 change exactly when name, description or schema differ: %s", async (_what, next, changes) => {
    const { service, actions } = stage({ actions: { heal: act("d") } });
    const shown = show(service);
    const [before] = shown.source.list();
    actions.tell(next);
    await settled();
    expect(shown.changes()).toBe(changes);
    expect(shown.source.list()[0] === before).toBe(changes === 0 || Object.keys(next).length === 2);
  });

  it("A6 change once for a thousand maps in a tick, and not at all when the last equals the first", async () => {
    const { service, actions } = stage({ actions: { heal: act() } });
    const shown = show(service);
    for (let at = 0; at < 1000; at += 1) actions.tell({ [`a${at}`]: act() });
    await settled();
    expect(shown.changes()).toBe(1);
    expect(shown.names()).toEqual(["a999"]);
    for (let at = 0; at < 1000; at += 1) actions.tell({ [`b${at}`]: act() });
    actions.tell({ a999: act() });
    await settled();
    expect(shown.changes()).toBe(1);
  });

  it("A6 do not change when they are announced in another order", async () => {
    const { service, actions } = stage({ actions: { heal: act(), flee: act() } });
    const shown = show(service);
    actions.tell({ flee: act(), heal: act() });
    await settled();
    expect(shown.changes()).toBe(0);
  });

  it("A6 are the same when a schema that is equal is written in another order", async () => {
    const turned = { additionalProperties: false, required: ["by"], properties: { by: number }, type: "object" };
    const { service, actions } = stage({ actions: { heal: { schema: object } } });
    const shown = show(service);
    actions.tell({ heal: { schema: turned } });
    await settled();
    expect(shown.changes()).toBe(0);
  });

  it("run the function that was announced last when the rest is equal", async () => {
    const two = { parameters: [number, number] };
    const { service, actions } = stage({ actions: { add: { ...two, execute: () => "old" } } });
    const shown = show(service);
    actions.tell({ add: { ...two, execute: () => ({ which: "new" }) } });
    expect(await shown.invoke("add", { arg0: 1, arg1: 2 })).toEqual({ which: "new" });
  });

  it("A7 do not run when the last announcement lacks them", async () => {
    const { service, actions, ran } = stage({ actions: { heal: act() } });
    const shown = show(service);
    actions.tell({});
    expect(() => shown.invoke("heal")).toThrow(
      new Refusal("OPERATION_NOT_FOUND", "there is no operation of this name"),
    );
    expect(ran).toEqual([]);
  });

  it("do not run when their schema differs from the one that validated the input", async () => {
    const { service, actions, ran } = stage({ actions: { heal: { schema: number } } });
    const shown = show(service);
    actions.tell({ heal: { schema: { type: "string" } } });
    expect(() => shown.invoke("heal", 5)).toThrow(Refusal);
    expect(ran).toEqual([]);
    await settled();
    await shown.invoke("heal", "five");
    expect(ran).toEqual([["heal", "five"]]);
  });

  it.each<[string, unknown, unknown]>([
    ["nothing", undefined, { blocks: [{ type: "text", text: "" }], isError: false }],
    ["a text", "no mana", { blocks: [{ type: "text", text: "no mana" }], isError: true }],
    ["an empty text", "", { blocks: [{ type: "text", text: "" }], isError: true }],
    ["data", { hp: 3 }, { hp: 3 }],
    ["a number", 3, 3],
    ["null", null, null],
  ])("A8 answer as the service means it when that is %s", async (_what, answer, expected) => {
    const shown = show(stage({ actions: { heal: act() }, execute: async () => answer }).service);
    expect(said(await shown.invoke("heal"))).toEqual(expected);
  });

  it("A8 reject with the service's error, to be masked, also when it throws synchronously", async () => {
    const fault = new Error("secret");
    const execute = (): never => {
      throw fault;
    };
    const shown = show(stage({ actions: { heal: act() }, execute }).service);
    await expect(shown.invoke("heal")).rejects.toBe(fault);
  });

  it("A10 answer with the service's own reason when they are no longer possible", async () => {
    const execute = (name: string): string => `Action "${name}" is not available`;
    const shown = show(stage({ actions: { heal: act() }, execute }).service);
    expect(said(await shown.invoke("heal"))).toEqual({
      blocks: [{ type: "text", text: 'Action "heal" is not available' }],
      isError: true,
    });
  });

  it("take title and hints from their author's options", () => {
    const asked: string[] = [];
    const { service, actions } = stage({ actions: { look: act("looks"), heal: act() } });
    const shown = show(service, {
      describe: (action) => {
        asked.push(action);
        return action === "look" ? { type: "query", scopes: ["game:look"] } : undefined;
      },
    });
    expect(shown.source.list()).toEqual([
      { name: "look", description: "looks", type: "query", scopes: ["game:look"] },
      { name: "heal", description: "does it" },
    ]);
    actions.tell({ look: act("looks"), heal: act() });
    shown.names();
    expect(asked).toEqual(["look", "heal"]);
  });

  it("take options by their own keys and those of the links to them, not by their tool names", () => {
    const asked: unknown[] = [];
    const far = stage({ actions: { "turn off!": act() } });
    const near = stage({ actions: { "turn-off": act() }, links: { "my cat": far.service } });
    const shown = show(
      { "the game": near.service, other: stage({ actions: { rest: act() } }).service },
      {
        links: true,
        describe: (...of) => {
          asked.push(of);
          return undefined;
        },
      },
    );
    expect(shown.names()).toEqual(["the_x20_game.turn-off", "the_x20_game.my_x20_cat.turn_x20_off_x21_", "other.rest"]);
    expect(asked).toEqual([
      ["turn-off", ["the game"]],
      ["turn off!", ["the game", "my cat"]],
      ["rest", ["other"]],
    ]);
  });

  it("report once, at the last unsubscription, an option key that named no action", () => {
    const { service } = stage({ actions: { look: act(), "turn-off": act() } });
    const shown = show(service, { describe: (action) => (action === "turn_off" ? { confirm: true } : undefined) });
    expect(shown.messages()).toEqual([]);
    shown.stop();
    shown.source.subscribe(() => {})();
    expect(shown.messages()).toEqual([
      'Cannot use "describe": it returned nothing for every entry, such as "look", "turn-off"; check the keys that it compares',
    ]);
    const one = show(service, { describe: (action) => (action === "look" ? {} : undefined) });
    one.stop();
    expect(one.messages()).toEqual([]);
  });

  it("A8 answer with returned texts when their author's options say so", async () => {
    const staged = stage({ actions: { look: act(), heal: act() }, execute: () => "a door" });
    const shown = show(staged.service, { describe: (action) => (action === "look" ? { texts: "answer" } : undefined) });
    expect(shown.source.list()[0]).not.toHaveProperty("texts");
    expect(said(await shown.invoke("look"))).toEqual({ blocks: [{ type: "text", text: "a door" }], isError: false });
    expect(said(await shown.invoke("heal"))).toEqual({ blocks: [{ type: "text", text: "a door" }], isError: true });
    staged.actions.tell({ look: act() });
    expect(said(await shown.invoke("look"))).toMatchObject({ isError: false });
  });

  it.each<[string, () => never]>([
    [
      "throws",
      () => {
        throw new Error("not today");
      },
    ],
    // What a caller who casts may hand over.
    ["answers later", () => Promise.resolve({ scopes: ["a"] }) as never],
    ["answers a text", () => "query" as never],
    ["says of texts what nobody knows", () => ({ texts: "result" }) as never],
  ])("are left out and reported when the function for their options %s", (_what, say) => {
    const shown = show(stage({ actions: { heal: act() } }).service, { describe: say });
    expect(shown.names()).toEqual([]);
    expect(shown.messages()).toEqual([expect.stringMatching(/^Cannot list action "heal": .*; it is left out$/)]);
  });
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CallTree, type CallEvent, type CallNode, type TrackedCall } from "../../src/call/call-tree.ts";
import { anonymous, callerKey } from "../../src/surface/caller.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { ada, shortOf, toolsOf } from "./nesting-support.ts";

function open(tree: CallTree, id: string, parent?: TrackedCall): TrackedCall {
  return tree.open({ entry: { id, name: id }, caller: anonymous, args: { id }, parent });
}

function idsOf(tree: CallTree): readonly string[] {
  return tree.roots().map(({ operationId }) => operationId);
}

function firstOf(tree: CallTree): CallNode {
  const [first] = tree.roots();
  if (first === undefined) throw new Error("there are no calls");
  return first;
}

describe("CallTree", () => {
  it("shows running and ended calls and their parts", () => {
    const tree = new CallTree();
    const root = tree.open({ entry: { id: "hub", name: "hub" }, caller: { ...ada, view: { surface: "x" } }, args: {} });
    root.begin(1000);
    const part = open(tree, "part", root);
    expect(tree.roots()).toMatchObject([
      { operationId: "hub", identity: "ada", surface: "x", state: "running", deadline: 1000, children: [{}] },
    ]);
    const { requestId, children } = firstOf(tree);
    expect(children[0]).toMatchObject({ state: "requested", surface: "default", parentRequestId: requestId });
    part.end("BUSY");
    root.end();
    expect(tree.find(requestId)).toMatchObject({ state: "completed", endedAt: expect.any(Number) });
    expect(tree.find(children[0]?.requestId ?? "")).toMatchObject({ state: "error", code: "BUSY", children: [] });
    expect(tree.find("none")).toBeUndefined();
    expect(tree.find(`${requestId}.2`)).toBeUndefined();
  });

  it("shows the caller of the time when the call was requested, and holds nothing else of the caller", () => {
    const tree = new CallTree();
    const caller = { ...ada, view: { surface: "x" }, claims: { team: "red" } };
    const before = callerKey(caller);
    const root = tree.open({ entry: { id: "hub", name: "hub" }, caller, args: {} });
    Object.assign(caller, { id: "eve", view: undefined, claims: { team: "blue" } });
    root.end();
    expect(tree.roots()).toMatchObject([{ identity: "ada", callerKey: before, surface: "x" }]);
  });

  it("ignores events of a call after its end", () => {
    const tree = new CallTree();
    const events: string[] = [];
    tree.subscribe(({ type }) => void events.push(type));
    const call = open(tree, "a");
    call.end("ABORTED");
    call.begin(1);
    call.end();
    call.end("BUSY");
    expect(events).toEqual(["requested", "aborted"]);
    expect(tree.roots()).toMatchObject([{ state: "aborted", code: "ABORTED" }]);
    expect(tree.roots()[0]).not.toHaveProperty("deadline");
  });

  it("keeps all that run and the last 1,000 that have ended, oldest first", () => {
    const tree = new CallTree();
    const running = open(tree, "running");
    for (let index = 0; index < 2500; index += 1) open(tree, `ended ${index}`).end();
    const ids = idsOf(tree);
    expect([ids.length, ids[0], ids[1], ids.at(-1)]).toEqual([1001, "running", "ended 1500", "ended 2499"]);
    running.end();
    expect([idsOf(tree).length, idsOf(tree)[0]]).toEqual([1000, "running"]);
  });

  it("counts the parts of a call with too many, and keeps at most 10,000 calls in one tree", () => {
    const tree = new CallTree();
    const heard: CallEvent[] = [];
    const root = open(tree, "root");
    for (let index = 0; index < 10_100; index += 1) open(tree, "part", root).end();
    expect(tree.roots()[0]?.children).toHaveLength(9999);
    tree.subscribe((event) => void heard.push(event));
    open(tree, "late", root).end();
    expect(heard.map(({ type, operationId }) => [type, operationId])).toEqual([
      ["requested", "late"],
      ["responded", "late"],
      ["completed", "late"],
    ]);
    expect(heard[0]?.requestId).toBe(`${tree.roots()[0]?.requestId}.10101`);
  });

  it("drops the first ended calls when all together are too many", () => {
    const tree = new CallTree();
    for (let index = 0; index < 12; index += 1) {
      const root = open(tree, `root ${index}`);
      for (let part = 0; part < 9999; part += 1) open(tree, "part", root);
      root.end();
    }
    expect(idsOf(tree)).toEqual(Array.from({ length: 10 }, (_none, index) => `root ${index + 2}`));
  });

  it("keeps nothing more of a tree that was forgotten while a part of it runs", () => {
    const tree = new CallTree();
    const root = open(tree, "root");
    const part = open(tree, "part", root);
    root.end();
    for (let index = 0; index < 1000; index += 1) open(tree, "other").end();
    for (let index = 0; index < 200_000; index += 1) open(tree, "more", part);
    open(tree, "last").end();
    expect(idsOf(tree)).toHaveLength(1000);
  });

  it("calls each listener as often as it was added, and reports its error or rejection", async () => {
    const faults: Fault[] = [];
    const tree = new CallTree({ report: (fault) => void faults.push(fault) });
    const heard: string[] = [];
    const listener = ({ type }: CallEvent): void => void heard.push(type);
    tree.subscribe(() => {
      throw new Error("not today");
    });
    // The compiler lets an asynchronous function stand where one that returns nothing is asked for.
    tree.subscribe(() => Promise.reject(new Error("nor tomorrow")) as unknown as void);
    const stops = [tree.subscribe(listener), tree.subscribe(listener)];
    const call = open(tree, "a");
    stops[0]?.();
    stops[0]?.();
    call.end("BUSY");
    expect(heard).toEqual(["requested", "requested", "error"]);
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(faults).toHaveLength(4);
  });

  it("passes the arguments to listeners and keeps none of them", async () => {
    const events: CallEvent[] = [];
    const tools = toolsOf({
      outer: { canCall: ["inner"], handler: (_args, { call }) => call("inner", { secret: "s" }) },
      inner: { handler: () => 1 },
    });
    tools.tree.subscribe((event) => void events.push(event));
    await tools.call("outer", { a: 1 });
    expect(events.map(({ type, operationId, input }) => [type, operationId, input])).toEqual([
      ["requested", "outer", { a: 1 }],
      ["requested", "inner", { secret: "s" }],
      ["responded", "inner", undefined],
      ["completed", "inner", undefined],
      ["responded", "outer", undefined],
      ["completed", "outer", undefined],
    ]);
    expect(JSON.stringify(tools.tree.roots())).not.toContain("secret");
  });

  it("calls with the original arguments when a listener mutates its event", async () => {
    const tools = toolsOf({
      outer: { canCall: ["inner"], handler: (_args, { call }) => call("inner", { list: [1] }) },
      inner: { input: z.object({ list: z.array(z.number()) }), handler: ({ list }) => ({ list }) },
    });
    tools.tree.subscribe(({ input }) => void Object.assign(input ?? {}, { list: ["theirs"] }));
    expect(shortOf(await tools.call("outer"))).toEqual({ list: [1] });
  });

  it("hides calls that their caller may not make", async () => {
    const tools = toolsOf({ guarded: { scopes: ["admin"], handler: () => 1 } });
    expect(await tools.call("guarded")).toMatchObject({ kind: "denied" });
    expect(tools.tree.roots()).toEqual([]);
  });
});

import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { kDefinition } from "../../src/builder/app-definition.ts";
import { mcp } from "../../src/builder/mcp.ts";
import type { AppNames } from "../../src/builder/app-names.ts";
import type { LinkedApp } from "../../src/builder/stages.ts";
import { inProcess } from "../../src/links/in-process.ts";
import { cell, event, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { createTestClient, type TestClient } from "../../src/testing/index.ts";
import { cast, expectRefusal } from "../tags/support.ts";
import { counter, countingHandlers, deadLink, holdingTarget } from "./support.ts";

const link = deadLink();
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function clientOf<TSpec, TNames extends AppNames>(app: LinkedApp<TNames, TSpec>): TestClient<TNames, TSpec> {
  const client = createTestClient(app);
  closing.push(() => client.close());
  return client;
}

/** The app as a caller who casts sees it: every method, whatever the stage. */
interface AnyStage {
  bridge(link: unknown): AnyStage;
  implement(handlers: unknown): AnyStage;
  expose(map: unknown): AnyStage;
  tools(tools: unknown): AnyStage;
  serve(target?: unknown): Promise<unknown>;
  open(): unknown;
}
type AnyApp = LinkedApp<AppNames, unknown>;
// The stages show what is legal; these tests do what is not.
const any = (app: unknown): AnyStage => app as AnyStage;

describe("the stages of an app", () => {
  it.each([
    ["made by hand", { name: counter.name, members: counter.members }],
    ["without members", { name: "s" }],
    ["null", null],
  ])("mcp() refuses a surface that defineSurface() did not make when it is %s", (_what, surface) => {
    expectRefusal(() => cast(mcp, surface), "INVALID_OPTION", "its surface must be the result of defineSurface()");
  });

  it("every step returns a new frozen app and does not change the one before", async () => {
    const tagged = mcp(counter);
    const linked = tagged.bridge(link);
    const exposed = linked.expose({ reset: "tool" });
    const bespoke = exposed.tools({ extra: { handler: () => 1 } });
    const stages: readonly object[] = [tagged, linked, exposed, bespoke];
    expect(new Set(stages).size).toBe(stages.length);
    expect(stages.filter((stage) => !Object.isFrozen(stage))).toEqual([]);
    expect(await clientOf(linked).toolNames()).toEqual(["count_bump"]);
    expect(await clientOf(exposed).toolNames()).toEqual(["count_bump", "reset"]);
    expect(await clientOf(bespoke).toolNames()).toEqual(["count_bump", "extra", "reset"]);
  });

  it("two apps that branch from one are independent", async () => {
    const base = mcp(counter).bridge(link);
    const left = base.expose({ log: "tool" });
    const right = base.tools({ log: { handler: () => 1 } });
    expect(await clientOf(left).toolNames()).toEqual(["count_bump", "log"]);
    expect(await clientOf(right).toolNames()).toEqual(["count_bump", "log"]);
  });

  it("an app does not change when its inputs are changed later", async () => {
    const map: Record<string, string> = { reset: "tool" };
    const tools: Record<string, object> = { extra: { handler: () => 1 } };
    const options = { name: "before" };
    const app = any(
      any(cast(mcp, counter, options))
        .bridge(link)
        .expose(map),
    ).tools(tools);
    map["log"] = "tool";
    tools["more"] = { handler: () => 1 };
    options.name = "after";
    const runtime = mcp(counter, { name: "x" }).bridge(link);
    expect(runtime[kDefinition].options.name).toBe("x");
    const client = clientOf(app as unknown as AnyApp);
    expect(await client.toolNames()).toEqual(["count_bump", "extra", "reset"]);
  });

  it("a surface that was defined cannot be given another member when an app is over it", () => {
    expect(Object.isFrozen(counter)).toBe(true);
    expect(Object.isFrozen(counter.members)).toBe(true);
  });

  it("expose() and tools() ignore undefined members", async () => {
    const app = any(mcp(counter).bridge(link)).expose({ reset: undefined }).tools({ extra: undefined });
    expect(await clientOf(app as unknown as AnyApp).toolNames()).toEqual(["count_bump"]);
  });

  it("serve() opens the app at its target and returns the target's result", async () => {
    const target = holdingTarget();
    const serving = await mcp(counter, { name: "here" }).bridge(link).serve(target);
    expect(target.served.map(({ info }) => info.name)).toEqual(["here"]);
    await serving.close();
  });
});

describe("exposed members", () => {
  it("nothing is reachable when nothing is tagged or exposed", async () => {
    const silent = defineSurface("silent", {
      state: cell({ schema: z.number() }),
      run: procedure({}),
      show: readOnly(procedure({})),
    });
    const client = clientOf(mcp(silent).bridge(link));
    expect(await client.toolNames()).toEqual([]);
    expect(await client.request("resources/list")).toMatchObject({ resources: [] });
    expect(await client.request("resources/templates/list")).toMatchObject({ resourceTemplates: [] });
  });

  it("keys that every object inherits are members like any others", async () => {
    const odd = defineSurface("odd", { toString: mcpTool(procedure({})), constructor: procedure({}) });
    expect(await clientOf(mcp(odd).implement({ toString: () => 1, constructor: () => 2 })).toolNames()).toEqual([
      "toString",
    ]);
  });
});

describe("boot errors, for callers who cast", () => {
  it.each([
    [{ nope: "tool" }, "UNKNOWN_MEMBER", 'Cannot expose "nope": surface "counter" has no such member'],
    [{ toString: "tool" }, "UNKNOWN_MEMBER", 'Cannot expose "toString"'],
    [{ constructor: "tool" }, "UNKNOWN_MEMBER", 'Cannot expose "constructor"'],
    [{ hasOwnProperty: "tool" }, "UNKNOWN_MEMBER", 'Cannot expose "hasOwnProperty"'],
    [{ ["__proto__"]: "tool" }, "UNKNOWN_MEMBER", 'Cannot expose "__proto__"'],
    [{ value: "resource" }, "ALREADY_EXPOSED", "it is tagged already, as a resource"],
    [{ "count.bump": "tool" }, "ALREADY_EXPOSED", "it is tagged already, as a tool"],
    [{ reset: "resource" }, "WRONG_KIND", "a procedure cannot be a resource"],
    [{ reset: "Tool" }, "INVALID_OPTION", 'must be "resource", "tool", { tool: { … } } or { resource: { … } }'],
    [{ reset: true }, "INVALID_OPTION", "must be"],
    [{ reset: null }, "INVALID_OPTION", "must be"],
    [{ reset: {} }, "INVALID_OPTION", "must be"],
    [{ reset: { tool: {}, nope: 1 } }, "INVALID_OPTION", "must be"],
    [null, "INVALID_OPTION", "expose() takes an object of members by key"],
    [5, "INVALID_OPTION", "expose() takes an object of members by key"],
    [["reset"], "INVALID_OPTION", "expose() takes an object of members by key"],
    [{ reset: { tool: { nope: 1 } } }, "INVALID_OPTION", '"nope" is not an option'],
    [{ reset: { tool: { mutates: 1 } } }, "INVALID_OPTION", '"mutates" must be true or false'],
    [{ reset: { tool: { mutates: false, destructive: true } } }, "CONTRADICTION", "cannot be destructive"],
    [{ log: { tool: { mutates: true } } }, "CONTRADICTION", "streams only read, by their kind"],
  ] as const)("expose(%j) throws %s", (map, code, sentence) => {
    expectRefusal(() => any(mcp(counter)).expose(map), code, sentence);
  });

  it("generic is the app itself, whose steps refuse duplicate names at run time", () => {
    const app = mcp(counter)
      .bridge(link)
      .tools({ ping: { handler: () => 1 } });
    expect(app.generic).toBe(app);
    expectRefusal(() => app.generic.tools({ ping: { handler: () => 1 } }), "NAME_COLLISION", "the app has one");
  });

  it("expose() throws ALREADY_EXPOSED when a member was exposed before, whichever way", () => {
    const once = any(mcp(counter)).expose({ log: "resource" });
    expectRefusal(
      () => once.expose({ log: "resource" }),
      "ALREADY_EXPOSED",
      'Cannot expose "log": it is exposed already',
    );
    expectRefusal(() => once.bridge(link).expose({ log: "tool" }), "ALREADY_EXPOSED", "expose it in one place");
  });

  it("expose() throws CONTRADICTION when the member is tagged by readOnly()", () => {
    const surface = defineSurface("s", { show: readOnly(procedure({})) });
    const expose = () => any(mcp(surface)).expose({ show: { tool: { mutates: true } } });
    expectRefusal(expose, "CONTRADICTION", "readOnly() says that it does not mutate");
  });

  it("expose() throws NAME_COLLISION when an input field has a synthetic name", () => {
    const surface = defineSurface("s", {
      done: event({ input: z.object({ since: z.string() }), output: z.string() }),
      log: stream({ input: z.object({ wait_ms: z.number() }), output: z.string() }),
    });
    expectRefusal(() => any(mcp(surface)).expose({ done: "tool" }), "NAME_COLLISION", 'its input field "since"');
    expectRefusal(() => any(mcp(surface)).expose({ log: "tool" }), "NAME_COLLISION", 'its input field "wait_ms"');
  });

  it("tools() and serve() throw NOT_LINKED when there is no link", async () => {
    const app = any(mcp(counter));
    expectRefusal(() => app.tools({}), "NOT_LINKED", "call bridge() or implement() first");
    expectRefusal(() => app.open(), "NOT_LINKED", 'Cannot serve surface "counter": it has no link');
    await expect(app.serve(holdingTarget())).rejects.toMatchObject({ code: "NOT_LINKED" });
  });

  it("bridge() and implement() throw ALREADY_LINKED when there is a link", () => {
    for (const app of [any(mcp(counter).bridge(link)), any(mcp(counter).implement(countingHandlers()))]) {
      expectRefusal(() => app.bridge(link), "ALREADY_LINKED", "call bridge() or implement() once");
      expectRefusal(() => app.implement(countingHandlers()), "ALREADY_LINKED", "it is linked already");
    }
  });

  it.each([undefined, null, {}, "unix:///tmp/s"])(
    "bridge(%j) throws INVALID_OPTION when that is no link",
    (notLink) => {
      expectRefusal(() => any(mcp(counter)).bridge(notLink), "INVALID_OPTION", "its argument must be a link");
    },
  );

  it.each([
    [{ count_bump: { handler: () => 1 } }, 'is taken by procedure "count.bump"'],
    [{ "count.bump": { handler: () => 1 } }, 'is taken by procedure "count.bump"'],
    [{ a_b: { handler: () => 1 }, "a.b": { handler: () => 1 } }, 'Cannot name tool "a.b": the wire name "a_b" is'],
  ])("tools() throws NAME_COLLISION naming both origins when a name is taken: %j", (tools, sentence) => {
    expectRefusal(() => any(mcp(counter).bridge(link)).tools(tools), "NAME_COLLISION", sentence);
  });

  it("a name that was given twice is a NAME_COLLISION in either order, and over two calls", () => {
    const app = any(mcp(counter).bridge(link));
    const tool = { log: { handler: () => 1 } };
    expectRefusal(() => app.tools(tool).expose({ log: "tool" }), "NAME_COLLISION", '"log"');
    expectRefusal(() => app.expose({ log: "tool" }).tools(tool), "NAME_COLLISION", '"log"');
    expectRefusal(() => app.tools(tool).tools(tool), "NAME_COLLISION", 'Cannot add tool "log": the app has one');
  });

  it("a tool may have the name of a resource", async () => {
    const app = mcp(counter)
      .bridge(link)
      .tools({ value: { handler: () => 1 }, log: { handler: () => 1 } })
      .expose({ log: "resource" });
    expect(await clientOf(app).toolNames()).toEqual(["count_bump", "log", "value"]);
  });

  it("mcp() throws NAME_COLLISION with both members when two tagged members have one wire name", () => {
    const surface = defineSurface("s", { "node.rerun": mcpTool(procedure({})), node_rerun: mcpTool(procedure({})) });
    expectRefusal(
      () => mcp(surface),
      "NAME_COLLISION",
      'Cannot name procedure "node_rerun": the wire name "node_rerun" is taken by procedure "node.rerun"',
    );
  });

  it("two members may have one wire name when one of them is not a tool", async () => {
    const surface = defineSurface("s", { "node.rerun": mcpTool(procedure({})), node_rerun: procedure({}) });
    expect(await clientOf(mcp(surface).bridge(link)).toolNames()).toEqual(["node_rerun"]);
    const expose = () => any(mcp(surface)).expose({ node_rerun: "tool" });
    expectRefusal(expose, "NAME_COLLISION", 'is taken by procedure "node.rerun"');
  });

  it.each([
    ["run it", { handler: () => 1 }],
    ["", { handler: () => 1 }],
    ["a-b", { handler: () => 1 }],
    ["x".repeat(65), { handler: () => 1 }],
  ])("tools() throws INVALID_NAME when a tool is called %j", (name, tool) => {
    expectRefusal(
      () => any(mcp(counter).bridge(link)).tools({ [name]: tool }),
      "INVALID_NAME",
      "must be letters, digits",
    );
  });

  it.each([{}, { handler: "run" }, 1, null, () => 1])("tools() throws MISSING_HANDLER when a tool is %j", (tool) => {
    const add = () => any(mcp(counter).bridge(link)).tools({ extra: tool });
    expectRefusal(add, "MISSING_HANDLER", 'Cannot add tool "extra": "handler" must be a function');
  });

  it.each([{ input: "text" }, { output: {} }, { input: null }])(
    "tools() throws INVALID_OPTION for an input that is no schema: %j",
    (said) => {
      const add = () => any(mcp(counter).bridge(link)).tools({ extra: { ...said, handler: () => 1 } });
      expectRefusal(add, "INVALID_OPTION", "must be a Standard Schema");
    },
  );

  it("tools() throws INVALID_OPTION for an unknown field of a tool", () => {
    const add = () => any(mcp(counter).bridge(link)).tools({ extra: { nope: 1, handler: () => 1 } });
    expectRefusal(add, "INVALID_OPTION", '"nope" is not an option');
  });

  it("tools() throws when options of a tool contradict each other", () => {
    const extra = { mutates: false, destructive: true, handler: () => 1 };
    const add = () => any(mcp(counter).bridge(link)).tools({ extra });
    expectRefusal(add, "CONTRADICTION", "cannot be destructive");
  });

  it("serve() shows the line to write when it is given options", async () => {
    const app = any(mcp(counter).bridge(link));
    await expect(app.serve({ port: 3000 })).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringContaining("serve(http({ port: 3000 }))"),
    });
  });

  it("opening throws MISSING_HANDLER or UNKNOWN_HANDLER when the handlers do not fit", () => {
    const { reset, ...rest } = countingHandlers();
    const open = (handlers: object) => any(mcp(counter)).implement(handlers).open();
    expectRefusal(() => open(rest), "MISSING_HANDLER", '"reset" has no handler');
    expectRefusal(() => open({ ...rest, reset, rest: reset }), "UNKNOWN_HANDLER", '"rest" is not a member of it');
    expectRefusal(() => open({ ...rest, resett: reset }), "MISSING_HANDLER", '"reset" has no handler');
  });
});

describe("an implemented app", () => {
  it("each open() has its own live surface, and closing one does not close the other", async () => {
    let made = 0;
    const perOpen = defineSurface("s", { made: mcpTool(event({ output: z.number() })), run: mcpTool(procedure({})) });
    const app = mcp(perOpen).implement({
      async *made(_input, { signal }) {
        made += 1;
        yield made;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
      run: () => "done",
    });
    const first = clientOf(app);
    const second = clientOf(app);
    await expect.poll(() => made).toBe(2);
    await first.close();
    expect(await second.tools.run()).toMatchObject({ isError: false, structured: { value: "done" } });
    const answer = await first.tools.run();
    expect(answer).toMatchObject({ isError: true, code: "CLOSED" });
  });

  it("a bridged live surface stays its maker's when the app is closed", async () => {
    const value = cellSource(1);
    const live = implementSurface(counter, countingHandlers(value));
    const client = createTestClient(mcp(counter).bridge(inProcess(live)));
    expect(await client.tools.count_bump({ by: 2 })).toMatchObject({ structured: { value: 3 } });
    await client.close();
    await client.close();
    const again = clientOf(mcp(counter).bridge(inProcess(live)));
    expect(await again.read("value")).toBe(3);
    await live.close();
  });

  it("a link is dialled on the first use, and not by opening or listing", async () => {
    const counted = deadLink();
    const client = clientOf(
      mcp(counter, { onFault: () => {} })
        .bridge(counted)
        .tools({ alone: { handler: () => "here" } }),
    );
    await client.toolNames();
    expect(await client.tools.alone()).toMatchObject({ structured: { value: "here" } });
    expect(counted.dials).toBe(0);
    expect(await client.tools.count_bump({ by: 1 })).toMatchObject({ isError: true, code: "UNAVAILABLE" });
    expect(counted.dials).toBe(1);
  });
});

import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { ClientAsk } from "../../src/catalog/asking.ts";
import type { AnyBespokeTool } from "../../src/catalog/bespoke-tool.ts";
import { createInvoker } from "../../src/call/create-invoker.ts";
import { CallContext } from "../../src/call/call-context.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { accepting, callInRounds, everyKind, pushing, type Reply } from "./asking-support.ts";
import { ada, shortOf, toolsOf, type Tools } from "./nesting-support.ts";

const input = z.object({ path: z.string() });

/** A tool that counts how often it ran, and what its user was asked. */
function removing(more: Partial<AnyBespokeTool> = { confirm: true }) {
  const handler = vi.fn<(args: unknown) => unknown>((args) => args);
  return { handler, tools: toolsOf({ remove: { title: "Remove a file", input, handler, ...more } }) };
}

const eras = {
  pushed: async (tools: Tools, reply: Reply, args: JsonObject) =>
    tools.call("remove", args, { asking: pushing(reply) }),
  replayed: async (tools: Tools, reply: Reply, args: JsonObject) =>
    (await callInRounds(tools, ["remove", args], { reply })).outcome,
};

describe.each(Object.entries(eras))("a tool that is to be confirmed, %s", (_era, run) => {
  it("runs once when the user accepts, who was shown its title and its arguments", async () => {
    const { tools, handler } = removing();
    const asked: ClientAsk[] = [];
    const reply: Reply = (ask) => (asked.push(ask), { action: "accept" });
    expect(shortOf(await run(tools, reply, { path: "/etc" }))).toEqual({ path: "/etc" });
    expect(handler).toHaveBeenCalledTimes(1);
    expect(asked).toEqual([
      {
        kind: "elicit",
        params: {
          message: 'Run "Remove a file" with {"path":"/etc"}?',
          requestedSchema: { type: "object", properties: {} },
        },
      },
    ]);
  });

  it.each(["decline", "cancel"])("does not run when the user says %s", async (action) => {
    const { tools, handler } = removing();
    const outcome = await run(tools, () => ({ action }), { path: "/etc" });
    expect(outcome).toMatchObject({ code: "DECLINED", details: { action } });
    expect(handler).not.toHaveBeenCalled();
  });

  it.each<[string, JsonObject]>([
    ["nothing", {}],
    ["true", { action: true }],
    ["a text that begins so", { action: "accepted" }],
  ])("does not run when the client answers %s", async (_name, answer) => {
    const { tools, handler } = removing();
    expect(shortOf(await run(tools, () => answer, { path: "/etc" }))).toBe("ASK_FAILED");
    expect(handler).not.toHaveBeenCalled();
  });

  it("asks nothing when its arguments do not fit", async () => {
    const { tools } = removing();
    const reply = vi.fn<Reply>(accepting());
    expect(shortOf(await run(tools, reply, { path: 7 }))).toBe("VALIDATION_ERROR");
    expect(reply).not.toHaveBeenCalled();
  });

  it("asks each time that it is called, by whoever calls it", async () => {
    const { handler } = removing();
    const tools = toolsOf({
      remove: {
        reach: ["one"],
        handler: async (_args, { call }) => [await call("one", { path: "a" }), await call("one", { path: "a" })],
      },
      one: { input, handler, confirm: true },
    });
    const reply = vi.fn<Reply>(accepting());
    expect((await run(tools, reply, {})).kind).toBe("answer");
    expect(reply).toHaveBeenCalledTimes(2);
    expect(handler).toHaveBeenCalledTimes(2);
  });
});

describe("a tool that is to be confirmed", () => {
  it("is refused with CLIENT_CANNOT when its client cannot ask, and runs where its author says otherwise", async () => {
    const refusing = removing();
    const outcome = await refusing.tools.call("remove", { path: "a" }, { asking: { kinds: new Set(["roots"]) } });
    expect(outcome).toMatchObject({ code: "CLIENT_CANNOT", requiredCapabilities: { elicitation: {} } });
    expect(refusing.handler).not.toHaveBeenCalled();
    const allowing = removing({ confirm: { otherwise: "allow" } });
    expect(shortOf(await allowing.tools.call("remove", { path: "a" }))).toEqual({ path: "a" });
    expect(
      shortOf(await allowing.tools.call("remove", { path: "a" }, { asking: pushing(() => ({ action: "decline" })) })),
    ).toBe("DECLINED");
  });

  it("takes no consent to other arguments", async () => {
    const { tools, handler } = removing();
    const first = await tools.call("remove", { path: "a" }, { asking: { kinds: everyKind } });
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    const [key = ""] = Object.keys(first.open);
    const resumed = { record: first.record, answers: { [key]: { action: "accept" } } };
    const other = await tools.call("remove", { path: "b" }, { asking: { kinds: everyKind, resumed } });
    expect(other.kind).toBe("asking");
    expect(handler).not.toHaveBeenCalled();
  });

  it("takes no consent that differs only where the user was shown no more", async () => {
    const { tools } = removing();
    const long = "x".repeat(5000);
    const first = await tools.call("remove", { path: `${long}a` }, { asking: { kinds: everyKind } });
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    const [key = ""] = Object.keys(first.open);
    expect(JSON.stringify(first.open[key]).length).toBeLessThan(2500);
    expect(JSON.stringify(first.open[key])).toContain("characters)?");
    const resumed = { record: first.record, answers: { [key]: { action: "accept" } } };
    expect((await tools.call("remove", { path: `${long}b` }, { asking: { kinds: everyKind, resumed } })).kind).toBe(
      "asking",
    );
  });

  it("shows what a user could not see in its arguments", async () => {
    const { tools } = removing();
    const asked: ClientAsk[] = [];
    const path = "a\u202egpj.exe\u200b\n\u{e0041}";
    await tools.call("remove", { path }, { asking: pushing(() => ({ action: "decline" }), asked) });
    expect(asked[0]?.params["message"]).toBe(
      'Run "Remove a file" with {"path":"a\\u{202e}gpj.exe\\u{200b}\\n\\u{e0041}"}?',
    );
  });
});

describe("an app that has all changes confirmed", () => {
  async function askedOf(more: Partial<AnyBespokeTool>, isUncounted = false): Promise<boolean> {
    const { tools } = removing(more);
    const invoker = createInvoker({ report: () => {}, confirm: "refuse" });
    const entry = { ...tools.entry("remove"), isUncounted };
    const outcome = await invoker.call(
      entry,
      { path: "a" },
      new CallContext({ caller: ada, asking: { kinds: everyKind } }),
    );
    invoker.close();
    return outcome.kind === "asking";
  }

  it.each<[string, Partial<AnyBespokeTool>, boolean]>([
    ["may change something", {}, true],
    ["only reads", { mutates: false }, false],
    ["only reads, and says that it is to be confirmed", { mutates: false, confirm: true }, true],
    ["says that it is not to be confirmed", { confirm: false }, false],
  ])("asks about a tool that %s: as it says", async (_name, more, asks) => {
    expect(await askedOf(more)).toBe(asks);
  });

  it("asks nothing about what stands for others", async () => {
    expect(await askedOf({}, true)).toBe(false);
  });
});

import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import { accepting, callInRounds, pushing, type Reply } from "./asking-support.ts";
import { ada, openTools, shortOf, type Tools } from "./nesting-support.ts";

const Name = z.object({ name: z.string() });

/** Every way in which one tool can be called: while it waits, and by retries. */
const eras = {
  pushed: async (tools: Tools, id: string, reply: Reply) => tools.call(id, {}, { asking: pushing(reply) }),
  replayed: async (tools: Tools, id: string, reply: Reply) => (await callInRounds(tools, [id], { reply })).outcome,
};

describe.each(Object.entries(eras))("a question after a nested call, %s", (_era, run) => {
  /** Tools that change and read, and how often each ran. */
  function desk(handler: AnyBespokeTool["handler"], more: Readonly<Record<string, AnyBespokeTool>> = {}) {
    const [change, read] = [vi.fn<() => string>(() => "changed"), vi.fn<() => string>(() => "read")];
    const asked = vi.fn<Reply>(accepting({ name: "Ada" }));
    const tools = openTools({
      change: { handler: change },
      read: { mutates: false, handler: read },
      asks: { mutates: false, handler: async (_args, { ask }) => (await ask.elicit("who", Name, "Who?")).action },
      host: { canCall: ["*"], handler },
      ...more,
    });
    return { change, read, asked, outcome: run(tools, "host", asked) };
  }

  it("is refused after a call that may have changed something, which ran once, and never sent", async () => {
    const { change, asked, outcome } = desk(async (_args, { ask, call }) => {
      await call("change");
      return ask.elicit("who", Name, "Who?");
    });
    expect(await outcome).toMatchObject({
      code: "ASK_AFTER_CHANGE",
      message: expect.stringMatching(
        /^the client was not asked the form "who": .* ask first, or make the calls one by one$/,
      ),
    });
    expect(change).toHaveBeenCalledTimes(1);
    expect(asked).not.toHaveBeenCalled();
  });

  it.each<[string, AnyBespokeTool["handler"]]>([
    ["a nested call asks it", async (_args, { call }) => [await call("change"), await call("asks")]],
    ["it is a confirmation", async (_args, { call }) => [await call("change"), await call("confirmed")]],
    ["it is for roots", async (_args, { call, ask }) => [await call("change"), await ask.roots()]],
    ["that was not waited for", (_args, { call, ask }) => (void call("change"), ask.elicit("who", Name, "Who?"))],
    ["that was made within another one", async (_args, { call, ask }) => [await call("reads"), await ask.roots()]],
  ])("is refused when %s", async (_name, handler) => {
    const { asked, change, outcome } = desk(handler, {
      confirmed: { confirm: true, handler: () => "done" },
      reads: {
        mutates: false,
        canCall: ["change"],
        callScopes: ada.scopes,
        handler: (_args, { call }) => call("change"),
      },
    });
    expect(shortOf(await outcome)).toBe("ASK_AFTER_CHANGE");
    expect(change).toHaveBeenCalledTimes(1);
    expect(asked).not.toHaveBeenCalled();
  });

  it("has an answer when that only reads, and may run again", async () => {
    const { read, outcome } = desk(async (_args, { ask, call }) => {
      const said = await call("read");
      return [said, (await ask.elicit("who", Name, "Who?")).action];
    });
    expect(shortOf(await outcome)).toEqual({ value: [{ value: "read" }, "accept"] });
    expect(read.mock.calls.length).toBeGreaterThanOrEqual(1);
  });

  it("is answered when it was asked before the change", async () => {
    const { change, outcome } = desk(async (_args, { ask, call }) => {
      const first = await ask.elicit("who", Name, "Who?");
      await call("change");
      return [first.action, (await ask.elicit("who", Name, "Who?")).action];
    });
    expect(shortOf(await outcome)).toEqual({ value: ["accept", "accept"] });
    expect(change).toHaveBeenCalledTimes(1);
  });

  it("is answered when only the calls above it may have changed something", async () => {
    const { change, outcome } = desk((_args, { call }) => call("middle"), {
      middle: { canCall: ["asksThenChanges"], handler: (_args, { call }) => call("asksThenChanges") },
      asksThenChanges: {
        canCall: ["change"],
        handler: async (_args, { ask, call }) => {
          await ask.elicit("first", Name, "First?");
          await ask.elicit("second", Name, "Second?");
          return call("change");
        },
      },
    });
    expect(shortOf(await outcome)).toEqual({ value: "changed" });
    expect(change).toHaveBeenCalledTimes(1);
  });

  it("has an answer when both are begun at once and the question first, and the change runs once", async () => {
    const { change, outcome } = desk(async (_args, { ask, call }) => {
      const [said, changed] = await Promise.all([ask.elicit("who", Name, "Who?"), call("change")]);
      return [said.action, changed];
    });
    expect(shortOf(await outcome)).toEqual({ value: ["accept", { value: "changed" }] });
    expect(change).toHaveBeenCalledTimes(1);
  });

  it("keeps nothing from running that it was not waited for", async () => {
    const { change, outcome } = desk((_args, { call }) => Promise.all([call("hasty"), call("change")]), {
      hasty: { mutates: false, handler: (_args, { ask }) => (void ask.elicit("who", Name, "Who?"), "done") },
    });
    expect(shortOf(await outcome)).toEqual({ value: [{ value: "done" }, { value: "changed" }] });
    expect(change).toHaveBeenCalledTimes(1);
  });
});

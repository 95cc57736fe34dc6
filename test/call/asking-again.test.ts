import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ClientPort } from "../../src/call/asker.ts";
import { PushedAsks } from "../../src/mcp/asking/pushed-asks.ts";
import { canonicalText } from "../../src/schema/json.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { callInRounds, everyKind, pushing, type Reply } from "./asking-support.ts";
import { openTools, shortOf, type Tools } from "./nesting-support.ts";

const none: JsonObject = { type: "object", properties: {} };

describe("a handler that mutates an answer", () => {
  const numbers: Reply = (_ask, key) => ({ action: "accept", content: key === "n" ? { n: 1 } : {} });

  it("receives the original answer when it runs again", async () => {
    const tools = openTools({
      add: {
        mutates: false,
        async handler(_args, { ask }) {
          const said = await ask.elicit("n", { type: "object", properties: { n: { type: "number" } } }, "n?");
          const content = said.action === "accept" ? said.content : {};
          content["n"] = Number(content["n"]) + 1;
          await ask.elicit("b", none, "b?");
          await ask.elicit("c", none, "c?");
          return { n: content["n"] };
        },
      },
    });
    expect(shortOf((await callInRounds(tools, ["add"], { reply: numbers })).outcome)).toEqual({ n: 2 });
  });

  it("receives the original answer when it asks the same question again", async () => {
    const tools = openTools({
      add: {
        mutates: false,
        async handler(_args, { ask }) {
          const schema = { type: "object", properties: { n: { type: "number" } } } as const;
          const [one, two] = [await ask.elicit("n", schema, "n?"), await ask.elicit("n", schema, "n?")];
          if (one.action === "accept") one.content["n"] = 7;
          return two;
        },
      },
    });
    const outcome = await tools.call("add", {}, { asking: pushing(() => ({ action: "accept", content: { n: 1 } })) });
    expect(shortOf(outcome)).toEqual({ action: "accept", content: { n: 1 } });
  });
});

describe("the key of a question within a call within a call", () => {
  const tools = (): Tools =>
    openTools({
      outer: { mutates: false, canCall: ["hidden"], handler: (_args, { call }) => call("hidden", { pin: "4711" }) },
      hidden: {
        mutates: false,
        confirm: true,
        input: z.object({ pin: z.string() }),
        handler: (_args, { ask }) => ask.elicit("ok", none, "ok?"),
      },
    });

  it("is another for each call, and the same when that is made again", async () => {
    const keysOf = async (): Promise<unknown> =>
      (await callInRounds(tools(), ["outer"], { reply: () => ({ action: "accept" }) })).rounds;
    expect(await keysOf()).not.toEqual(await keysOf());
    const { rounds, outcome } = await callInRounds(tools(), ["outer"], { reply: () => ({ action: "accept" }) });
    expect(rounds).toHaveLength(2);
    expect(new Set(rounds.flat().map((key) => key.split("/")[0])).size).toBe(1);
    expect(outcome.kind).toBe("answer");
  });

  it("does not reveal the arguments to guesses", async () => {
    const first = await tools().call("outer", {}, { asking: { kinds: everyKind } });
    const text = JSON.stringify(first.kind === "asking" ? Object.keys(first.open) : []);
    expect(text).toContain(".confirm.");
    for (const guessed of [
      { id: "hidden", as: "tool", args: { pin: "4711" } },
      { id: "hidden", args: { pin: "4711" } },
    ]) {
      const named = canonicalText(guessed);
      for (const hash of [createHash("sha256"), createHmac("sha256", "")]) {
        expect(text).not.toContain(hash.update(named).digest("base64url").slice(0, 12));
      }
    }
  });
});

describe("listening for other roots", () => {
  const listening = (): PushedAsks => new PushedAsks({ kinds: () => new Set(["roots"] as const), send: () => {} });

  it("ends with the call", async () => {
    const asks = listening();
    let told = 0;
    const tools = openTools({
      t: {
        mutates: false,
        handler(_args, { ask }) {
          ask.onRoots(() => (told += 1));
          return {};
        },
      },
    });
    await tools.call("t", {}, { asking: asks.port });
    asks.notified("notifications/roots/list_changed");
    expect(told).toBe(0);
  });

  it("ends when its call ends, is cancelled or stops listening", async () => {
    let [begun, stopped] = [0, 0];
    const asking: ClientPort = {
      kinds: everyKind,
      onRoots: () => {
        begun += 1;
        return () => void (stopped += 1);
      },
    };
    const tools = openTools({
      stops: { mutates: false, handler: (_args, { ask }) => (ask.onRoots(() => {})(), {}) },
      waits: {
        mutates: false,
        async handler(_args, { ask, signal }) {
          ask.onRoots(() => {});
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          ask.onRoots(() => {});
        },
      },
    });
    await tools.call("stops", {}, { asking });
    expect([begun, stopped]).toEqual([1, 1]);
    const { call, outcome } = tools.start("waits", { asking });
    await new Promise((resolve) => setImmediate(resolve));
    call.cancel();
    expect(shortOf(await outcome)).toBe("ABORTED");
    expect([begun, stopped]).toEqual([2, 2]);
  });

  it("hears within a call within a call", async () => {
    const asks = listening();
    let told = 0;
    const tools = openTools({
      outer: { mutates: false, canCall: ["t"], handler: (_args, { call }) => call("t") },
      t: {
        mutates: false,
        handler(_args, { ask }) {
          ask.onRoots(() => (told += 1));
          asks.notified("notifications/roots/list_changed");
          return {};
        },
      },
    });
    await tools.call("outer", {}, { asking: asks.port });
    asks.notified("notifications/roots/list_changed");
    expect(told).toBe(1);
  });
});

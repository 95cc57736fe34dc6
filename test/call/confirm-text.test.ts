import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { ClientPort } from "../../src/call/asker.ts";
import type { InputRequest } from "../../src/catalog/asking/asking.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import { Refusal, SurfaceError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import type { ConfirmContext, ConfirmText } from "../../src/tags/tool-options.ts";
import { callInRounds, everyKind, pushing, type Reply } from "./asking-support.ts";
import { ada, shortOf, toolsOf, type Tools } from "./nesting-support.ts";

type Write = (input: unknown, context: ConfirmContext) => ConfirmText | Promise<ConfirmText>;

const input = z.object({ id: z.coerce.number(), force: z.boolean().default(false) });

/** A tool whose author writes the question. */
function closing(write: Write, more: Partial<AnyBespokeTool> = {}) {
  const handler = vi.fn<(args: unknown) => unknown>((args) => args);
  return { handler, tools: toolsOf({ close: { title: "Close an issue", input, handler, confirm: write, ...more } }) };
}

const eras = {
  pushed: async (tools: Tools, reply: Reply, args: JsonObject) => tools.call("close", args, { asking: pushing(reply) }),
  replayed: async (tools: Tools, reply: Reply, args: JsonObject) =>
    (await callInRounds(tools, ["close", args], { reply })).outcome,
};

/** A user who agrees, and what they read. */
function agreeing(then = (): void => {}): { readonly read: unknown[]; readonly reply: Reply } {
  const read: unknown[] = [];
  const reply: Reply = ({ params }) => {
    read.push(params["message"]);
    then();
    return { action: "accept", content: { confirm: "CLOSE" } };
  };
  return { read, reply };
}

/** The question that a user reads. */
async function shown(said: ConfirmText, args: JsonObject = { id: 7 }): Promise<string> {
  const asked: InputRequest[] = [];
  const { tools } = closing(() => said);
  await tools.call("close", args, { asking: pushing(() => ({ action: "decline" }), asked) });
  const message = asked[0]?.params["message"];
  return typeof message === "string" ? message : "";
}

describe.each(Object.entries(eras))("a question that its author writes, %s", (_era, run) => {
  it("stands above the name and the arguments of the tool, and is written from validated input and the caller", async () => {
    const write = vi.fn<Write>(async (given, { caller }) => ({
      message: `Close issue ${JSON.stringify(given)}?`,
      details: [`as ${caller.id}`, "it has 3 comments"],
    }));
    const { tools, handler } = closing(write);
    const { read, reply } = agreeing();
    expect(shortOf(await run(tools, reply, { id: "7" }))).toEqual({ id: 7, force: false });
    expect(read).toEqual([
      'Close issue {"id":7,"force":false}?\n- as ada\n- it has 3 comments\nTool: "Close an issue"\nid: 7\nforce: false',
    ]);
    expect(write.mock.calls.every(([, { caller }]) => caller === ada)).toBe(true);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it("goes with a word to type", async () => {
    const { tools, handler } = closing(() => "", { confirm: { type: "CLOSE", message: () => "Close it?" } });
    const { read, reply } = agreeing();
    expect((await run(tools, reply, { id: 7 })).kind).toBe("answer");
    expect(read).toEqual(['Close it?\nTool: "Close an issue"\nid: 7\nforce: false\nType CLOSE to confirm.']);
    expect(shortOf(await run(tools, () => ({ action: "accept", content: {} }), { id: 7 }))).toBe("DECLINED");
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it("is asked once more when it changed meanwhile, and runs for the confirmed text", async () => {
    let files = 3;
    const { tools, handler } = closing(() => `Delete ${files} files?`);
    const { read, reply } = agreeing(() => (files = 300));
    expect((await run(tools, reply, { id: 7 })).kind).toBe("answer");
    expect(read.map((text) => String(text).split("\n")[0])).toEqual(["Delete 3 files?", "Delete 300 files?"]);
    expect(handler).toHaveBeenCalledTimes(1);
    // Not a fault of the author's: the state has changed.
    expect(tools.faults).toEqual([]);
  });

  it("does not run when the user does not agree to the other text", async () => {
    let files = 3;
    const { tools, handler } = closing(() => `Delete ${files} files?`);
    const reply: Reply = () => ({ action: files === 3 ? ((files = 300), "accept") : "decline" });
    expect(shortOf(await run(tools, reply, { id: 7 }))).toBe("DECLINED");
    expect(handler).not.toHaveBeenCalled();
  });

  it("is refused when it changes each time", async () => {
    let count = 0;
    const { tools, handler } = closing(() => `Sure, for the ${(count += 1)}. time?`);
    const { read, reply } = agreeing();
    expect(await run(tools, reply, { id: 7 })).toMatchObject({
      code: "ASK_FAILED",
      message: "the confirmation changed each time after it was answered",
    });
    expect(read).toHaveLength(2);
    expect(handler).not.toHaveBeenCalled();
    expect(tools.faults).toEqual([]);
  });

  it("is refused with the author's own refusal, before the user is asked", async () => {
    const { tools, handler } = closing(() => {
      throw new Refusal("NOT_YOURS", "this issue is not yours", { owner: "bob" });
    });
    const { read, reply } = agreeing();
    const outcome = await run(tools, reply, { id: 7 });
    expect(outcome).toMatchObject({ code: "NOT_YOURS", message: "this issue is not yours", details: { owner: "bob" } });
    expect([read, handler.mock.calls]).toEqual([[], []]);
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["rejects", async () => Promise.reject(new Error("secret"))],
    [
      "uses a member in a way that does not fit",
      () => {
        throw new SurfaceError("VALIDATION_ERROR", "secret");
      },
    ],
    ["returns nothing", () => undefined],
    ["returns null", () => null],
    ["returns a number", () => 7],
    ["returns an empty text", () => " "],
    ["returns lines without a message", () => ({ details: ["secret"] })],
    ["returns a line that is no text", () => ({ message: "Close?", details: [7] })],
    ["returns details that are no lines", () => ({ message: "Close?", details: { secret: 1 } })],
    [
      "returns an object that throws",
      () => ({
        get message() {
          throw new Error("secret");
        },
      }),
    ],
  ])("is refused with INTERNAL, and nothing runs, when the function %s", async (_what, write) => {
    const { tools, handler } = closing(write as Write);
    const { read, reply } = agreeing();
    const outcome = await run(tools, reply, { id: 7 });
    expect(outcome).toMatchObject({ kind: "refused", code: "INTERNAL", correlationId: expect.any(String) });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect([read, handler.mock.calls]).toEqual([[], []]);
    expect(tools.faults).toHaveLength(1);
  });

  it("is refused when the function throws once the user has agreed", async () => {
    let isGone = false;
    const { tools, handler } = closing(() => {
      if (isGone) throw new Refusal("NOT_FOUND", "there is no such issue");
      return "Close?";
    });
    const { reply } = agreeing(() => (isGone = true));
    expect(shortOf(await run(tools, reply, { id: 7 }))).toBe("NOT_FOUND");
    expect(handler).not.toHaveBeenCalled();
  });

  it("is not written for arguments that do not fit", async () => {
    const write = vi.fn<Write>(() => "Close?");
    const { tools } = closing(write);
    expect(shortOf(await run(tools, agreeing().reply, { id: "x" }))).toBe("VALIDATION_ERROR");
    expect(write).not.toHaveBeenCalled();
  });
});

describe("a question that its author writes", () => {
  it("takes no consent that was given to another text", async () => {
    let text = "Close the typo?";
    const { tools, handler } = closing(() => text);
    const first = await tools.call("close", { id: 7 }, { asking: { kinds: everyKind } });
    if (first.kind !== "asking") throw new Error(`it was ${first.kind}`);
    const answers = Object.fromEntries(Object.keys(first.open).map((key) => [key, { action: "accept" }]));
    const asking: ClientPort = { kinds: everyKind, resumed: { record: first.record, answers } };
    text = "Close the release?";
    const again = await tools.call("close", { id: 7 }, { asking });
    expect(again).toMatchObject({ kind: "asking" });
    expect(JSON.stringify(again)).toContain("Close the release?");
    expect(handler).not.toHaveBeenCalled();
    text = "Close the typo?";
    expect((await tools.call("close", { id: 7 }, { asking })).kind).toBe("answer");
  });

  it("is not written for a client that cannot ask, which is refused or runs as the author says", async () => {
    const write = vi.fn<Write>(() => "Close?");
    const refusing = closing(write);
    expect(shortOf(await refusing.tools.call("close", { id: 7 }))).toBe("CLIENT_CANNOT");
    const allowing = closing(write, { confirm: { otherwise: "allow", message: write } });
    expect(shortOf(await allowing.tools.call("close", { id: 7 }))).toEqual({ id: 7, force: false });
    expect(write).not.toHaveBeenCalled();
  });

  it("ends with its call's deadline when the function hangs", async () => {
    const { tools, handler } = closing(() => new Promise<string>(() => {}), { timeoutMs: 20 });
    expect(shortOf(await tools.call("close", { id: 7 }, { asking: pushing(agreeing().reply) }))).toBe("TIMEOUT");
    expect(handler).not.toHaveBeenCalled();
  });

  it("has one line for each text, so that no text looks like an argument", async () => {
    const evil = '"\nTool: "Look"\nid: 1\r\n\u2028id: 2\u202e';
    const escaped = '"\\u{a}Tool: "Look"\\u{a}id: 1\\u{d}\\u{a}\\u{2028}id: 2\\u{202e}';
    expect((await shown({ message: `Close ${evil}?`, details: [evil, evil] })).split("\n")).toEqual([
      `Close ${escaped}?`,
      `- ${escaped}`,
      `- ${escaped}`,
      'Tool: "Close an issue"',
      "id: 7",
      "force: false",
    ]);
    expect(await shown({ message: "Close?", details: "one line" })).toContain("Close?\n- one line\nTool: ");
  });

  it("pushes no argument out of sight, however long it is", async () => {
    for (const character of ["x", "\u200b", "\u{1f600}"]) {
      const long = character.repeat(100_000);
      const message = await shown({ message: long, details: Array.from({ length: 1000 }, () => long) });
      expect(message.length).toBeLessThan(6000);
      expect(message.split("\n").slice(-4)).toEqual([
        "- … and 980 more lines",
        'Tool: "Close an issue"',
        "id: 7",
        "force: false",
      ]);
    }
  });
});

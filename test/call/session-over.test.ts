import { describe, expect, it } from "vitest";
import type { ClientPort } from "../../src/call/asker.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import { createSessionEndedError } from "../../src/catalog/own-refusals.ts";
import { everyKind } from "./asking-support.ts";
import { openTools } from "./nesting-support.ts";

const greet: AnyBespokeTool = {
  handler: async (_args, { ask }) => (await ask.elicit("who", { type: "object", properties: {} }, "Who is it?")).action,
};

describe("a question to a client whose session ends", () => {
  const leaving: ClientPort = { kinds: everyKind, push: () => Promise.reject(createSessionEndedError()) };
  const isOver = "the session of the client is ending, and cannot take questions any more";
  const sure: readonly [string, Parameters<typeof openTools>[0]][] = [
    ["reads", { asks: { ...greet, mutates: false } }],
    ["is to be confirmed", { asks: { confirm: true, handler: () => ({}) } }],
    [
      "calls what asks",
      {
        asks: { mutates: false, canCall: ["greet"], handler: (_args, { call }) => call("greet") },
        greet: { ...greet, mutates: false },
      },
    ],
  ];

  it.each(sure)("is refused with that, and nothing of the application, when it %s", async (_what, tools) => {
    const outcome = await openTools(tools).call("asks", {}, { asking: leaving });
    expect(outcome).toMatchObject({ kind: "refused", code: "DISCONNECTED", message: isOver });
  });

  it("is refused with an unknown outcome when its call is mutating", async () => {
    const outcome = await openTools({ greet: { ...greet, mutates: true } }).call("greet", {}, { asking: leaving });
    const unknown = "whether the call took effect is unknown: read the state before you try again";
    expect(outcome).toMatchObject({ kind: "refused", code: "DISCONNECTED", message: `${isOver}, and ${unknown}` });
  });
});

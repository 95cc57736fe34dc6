import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineSurface, inProcess, implementSurface, mcp, mcpTool, procedure } from "../../src/index.ts";
import { createTestClient } from "../../src/testing/index.ts";
import type { Fault } from "../../src/surface/fault.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const text = 'Two "quoted" lines\nand a snowman ☃';
const surface = defineSurface("texts", {
  declared: mcpTool(procedure({ output: z.string() })),
  undeclared: mcpTool(procedure({})),
  choice: mcpTool(procedure({ output: z.enum(["red", "green"]) })),
});

function open(era: "legacy" | "modern") {
  const app = mcp(surface)
    .implement({ declared: () => text, undeclared: () => text, choice: () => "red" })
    .tools({
      by_hand: { handler: async () => text },
      by_hand_declared: { output: z.string(), handler: () => text },
      object: { output: z.object({ value: z.string() }), handler: () => ({ value: text }) },
      list: { handler: () => [text] },
      number: { handler: () => 7 },
      half: { handler: () => "half \ud83d" },
    })
    .mount("shelf", { list: () => [{ name: "note", type: "query" }], subscribe: () => () => {}, invoke: () => text });
  const client = createTestClient(app, { era });
  closers.push(() => client.close());
  return client;
}

describe.each(["legacy", "modern"] as const)("a text answer for a %s client", (era) => {
  it.each(["declared", "undeclared", "by_hand", "by_hand_declared", "shelf_note"] as const)(
    "of %s is plain text in content, and under value in structuredContent",
    async (name) => {
      const result = await open(era).request("tools/call", { name, arguments: {} });
      expect(result).toMatchObject({ content: [{ type: "text", text }], structuredContent: { value: text } });
      expect(result["isError"]).toBeUndefined();
    },
  );

  it("of a choice is its name", async () => {
    expect(await open(era).tools.choice()).toMatchObject({ text: "red", structured: { value: "red" }, value: "red" });
  });

  it("of anything else is the JSON of structuredContent", async () => {
    const { tools } = open(era);
    expect(await tools.object()).toMatchObject({ text: JSON.stringify({ value: text }), structured: { value: text } });
    expect(await tools.list()).toMatchObject({ text: JSON.stringify({ value: [text] }) });
    expect(await tools.number()).toMatchObject({ text: '{"value":7}' });
  });

  it("holds no half of a character", async () => {
    expect(await open(era).tools.half()).toMatchObject({ text: "half \ufffd", structured: { value: "half \ufffd" } });
  });
});

const block = { type: "text", text: "no such issue" };

describe("a tool result in the shape of the protocol", () => {
  it.each<[string, object]>([
    ["a failure", { content: [block], isError: true }],
    ["a result of the newest protocol", { content: [block], resultType: "complete" }],
  ])("is an error of the author of a procedure, a tool or a mount that returns %s", async (_what, result) => {
    const faults: Fault[] = [];
    const live = implementSurface(surface, { declared: () => "", undeclared: () => result, choice: () => "red" });
    closers.push(() => live.close());
    const app = mcp(surface, { onFault: (fault) => faults.push(fault) })
      .bridge(inProcess(live))
      .tools({ by_hand: { handler: () => result } })
      .mount("shelf", {
        list: () => [{ name: "note", type: "query" }],
        subscribe: () => () => {},
        invoke: () => result,
      });
    const client = createTestClient(app);
    closers.push(() => client.close());
    for (const name of ["undeclared", "by_hand", "shelf_note"]) {
      const answer = await client.request("tools/call", { name, arguments: {} });
      expect(answer).toMatchObject({ isError: true });
      expect(JSON.stringify(answer)).not.toContain("no such issue");
    }
    expect(faults.map(({ cause }) => String(cause))).toEqual(
      ["undeclared", "by_hand", "note"].map((name) => expect.stringMatching(new RegExp(`${name}.*content\\(…\\)`))),
    );
  });

  it("is data where an output schema declares it", async () => {
    const output = z.object({ content: z.array(z.object({ type: z.string(), text: z.string() })) });
    const pages = defineSurface("pages", { show: mcpTool(procedure({ output })) });
    const client = createTestClient(mcp(pages).implement({ show: () => ({ content: [block] }) }));
    closers.push(() => client.close());
    expect((await client.tools.show()).value.content).toEqual([block]);
  });
});

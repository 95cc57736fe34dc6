import { afterEach, describe, expect, it } from "vitest";
import { mcpInvoker } from "../../../src/builder/mcp-invoker.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";

const closing: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of closing.splice(0).toReversed()) await each.close();
});

const output = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };

/** What a tool comes to on the wire that answers this; "declared" has an output. */
async function told(name: "plain" | "declared", answer: unknown): Promise<Record<string, unknown>> {
  const list = () => [{ name: "plain" }, { name: "declared", outputSchema: output }];
  const client = createTestClient(mcpInvoker({ list, invoke: () => answer }, { onFault: () => {} }));
  closing.push(client);
  return client.request("tools/call", { name });
}

const text = (said: string) => ({ type: "text", text: said });

describe("D4: MCP tool results", () => {
  it("D4 stay errors when their tool has an output, too", async () => {
    const failed = { content: [text("it failed")], isError: true };
    expect(await told("declared", failed)).toEqual(failed);
    expect(await told("declared", { ...failed, structuredContent: { code: 5 } })).toEqual({
      ...{ content: [text("it failed"), text('{"code":5}')], isError: true },
    });
    expect(await told("plain", { ...failed, structuredContent: { code: 5 } })).toEqual({
      ...{ ...failed, structuredContent: { code: 5 } },
    });
  });

  it.each(["plain", "declared"] as const)("D4 have their value as text when they have no block, %s", async (name) => {
    expect(await told(name, { content: [], structuredContent: { a: 1 } })).toEqual({
      ...{ content: [text('{"a":1}')], structuredContent: { a: 1 } },
    });
  });

  it("D4 have no block when they are empty", async () => {
    expect(await told("plain", { content: [] })).toEqual({ content: [] });
  });

  it("D4 keep their _meta, except the members about their own connection", async () => {
    const meta = { trace: "t1", "io.modelcontextprotocol/serverInfo": { name: "remote" } };
    expect(await told("plain", { resultType: "complete", content: [text("x")], _meta: meta })).toEqual({
      ...{ content: [text("x")], _meta: { trace: "t1" } },
    });
  });

  it("D4 keep the size and display metadata of a linked resource", async () => {
    const link = {
      type: "resource_link",
      uri: "app://x",
      name: "x",
      size: 7,
      icons: [{ src: "https://a.test/i.png" }],
    };
    expect(await told("plain", { content: [link] })).toEqual({ content: [link] });
  });

  it.each<[string, object]>([
    ["is a document that has contents", { type: "doc", content: [{ type: "paragraph" }] }],
    ["is what a model has said", { role: "assistant", content: [text("hi")], usage: { input: 5 } }],
    ["says of its error what no result does", { content: [text("hi")], isError: "no" }],
    ["has structured content that is a text", { content: [text("hi")], structuredContent: "hi" }],
  ])("D4 differ from a plain value, which is returned whole, when that %s", async (_what, answer) => {
    expect(await told("plain", answer)).toEqual({
      ...{ content: [text(JSON.stringify(answer))], structuredContent: answer },
    });
  });

  it("D4 differ from a plain value that fits the tool's output, when they have no structured content", async () => {
    const answer = { a: 1, content: [text("hi")] };
    expect(await told("declared", answer)).toMatchObject({ structuredContent: { a: 1 } });
    expect(await told("declared", { content: [text("hi")] })).toMatchObject({ isError: true });
  });
});

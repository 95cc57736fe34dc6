import { expect, it } from "vitest";
import { z } from "zod";
import { content } from "../../src/catalog/content/content.ts";
import { shortOf, toolsOf } from "./nesting-support.ts";

const output = z.object({ n: z.number() });

it("content() that says that it has failed is answered when it says nothing that its output schema asks for", async () => {
  const tools = toolsOf({ t: { output, handler: () => content(["no such thing"], { isError: true }) } });
  const outcome = await tools.call("t");
  expect(outcome).toMatchObject({ kind: "rich", isError: true, structured: undefined });
  expect(outcome).toHaveProperty("blocks", '[{"type":"text","text":"no such thing"}]');
  expect(tools.faults).toEqual([]);
});

it("content() is held against the output schema when it has not failed, or says something to programs", async () => {
  const tools = toolsOf({
    nothing: { output, handler: () => content(["x"]) },
    misfit: { output, handler: () => content(["x"], { isError: true, structured: { n: "secret" } }) },
    fits: { output, handler: () => content(["x"], { isError: true, structured: { n: 1 } }) },
  });
  expect(shortOf(await tools.call("nothing"))).toBe("INVALID_OUTPUT");
  expect(shortOf(await tools.call("misfit"))).toBe("INVALID_OUTPUT");
  expect(await tools.call("fits")).toMatchObject({ kind: "rich", isError: true, structured: '{"n":1}' });
});

it.each<[string, object]>([
  ["blocks", { content: [{ type: "text", text: "done" }] }],
  ["a failure", { content: [{ type: "text", text: "no" }], isError: true }],
  ["a failure without blocks", { content: [], isError: true }],
  [
    "blocks and data",
    { content: [{ type: "image", data: "", mimeType: "image/png" }], structuredContent: {}, _meta: {} },
  ],
])(
  "a handler that returns an MCP result with %s is refused, and the log names content() and Refusal",
  async (_, result) => {
    const tools = toolsOf({ t: { handler: () => result } });
    expect(shortOf(await tools.call("t"))).toBe("INVALID_OUTPUT");
    expect(tools.faults).toEqual([
      expect.objectContaining({
        cause: expect.objectContaining({ message: expect.stringMatching(/content\(…\).*Refusal/) }),
      }),
    ]);
  },
);

it.each<[string, object]>([
  ["has other fields", { content: [{ type: "text", text: "a" }], title: "b" }],
  ["has content of another kind", { content: [{ type: "paragraph" }] }],
  ["has no content", { content: [] }],
  ["has a text", { content: "a" }],
])("a handler may return a document that %s", async (_, document) => {
  expect(shortOf(await toolsOf({ t: { handler: () => document } }).call("t"))).toEqual(document);
});

it("a handler may return data in the shape of a result where it declares that as its output", async () => {
  const result = { content: [{ type: "text", text: "a" }] };
  const shape = z.object({ content: z.array(z.object({ type: z.string(), text: z.string() })) });
  expect(shortOf(await toolsOf({ t: { output: shape, handler: () => result } }).call("t"))).toEqual(result);
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CallContext } from "../../../src/call/call-context.ts";
import { createInvoker } from "../../../src/call/create-invoker.ts";
import type { ToolOutcome } from "../../../src/catalog/outcome.ts";
import {
  audioBlock,
  content,
  imageBlock,
  isContent,
  linkBlock,
  resourceBlock,
  textBlock,
} from "../../../src/catalog/content/content.ts";
import type { AnyBespokeTool } from "../../../src/catalog/custom/bespoke-tool.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { catalogOf, thrownBy } from "../support.ts";

const bytes = new Uint8Array([0, 1, 254, 255]);
const base64 = "AAH+/w==";

async function call(
  tool: AnyBespokeTool,
): Promise<{ readonly outcome: ToolOutcome; readonly faults: readonly Fault[] }> {
  const faults: Fault[] = [];
  const invoker = createInvoker({ report: (fault) => faults.push(fault) });
  const entry = catalogOf({}, { tools: { probe: tool } }).tool("probe");
  if (entry === undefined) throw new Error("there is no tool");
  const outcome = await invoker.call(entry, {}, new CallContext());
  invoker.close();
  return { outcome, faults };
}

const blocksOf = (outcome: ToolOutcome): unknown => (outcome.kind === "rich" ? JSON.parse(outcome.blocks) : outcome);

describe("blocks", () => {
  it("each block becomes the protocol's own form, with annotations and meta where they are said", async () => {
    const more = {
      annotations: { audience: ["user"], priority: 0.5, lastModified: "2026-01-02T03:04:05Z" },
      meta: { a: 1 },
    } as const;
    const said = { annotations: more.annotations, _meta: { a: 1 } };
    const { outcome } = await call({
      handler: () =>
        content([
          "plain",
          textBlock("said", more),
          imageBlock({ data: bytes, mimeType: "image/png", ...more }),
          audioBlock({ data: base64, mimeType: "audio/wav" }),
          resourceBlock({ uri: "app://a", mimeType: "text/plain; charset=utf-8", text: "a" }),
          resourceBlock({ uri: "surface://probe/x", bytes: bytes.subarray(2) }),
          linkBlock({
            uri: "https://a.test/b?c#d",
            name: "b",
            title: "B",
            size: 3,
            icons: [{ src: "https://a.test/i.png" }],
          }),
        ]),
    });
    expect(blocksOf(outcome)).toEqual([
      { type: "text", text: "plain" },
      { type: "text", text: "said", ...said },
      { type: "image", data: base64, mimeType: "image/png", ...said },
      { type: "audio", data: base64, mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "app://a", mimeType: "text/plain; charset=utf-8", text: "a" } },
      { type: "resource", resource: { uri: "surface://probe/x", blob: "/v8=" } },
      {
        type: "resource_link",
        uri: "https://a.test/b?c#d",
        name: "b",
        title: "B",
        size: 3,
        icons: [{ src: "https://a.test/i.png" }],
      },
    ]);
  });

  it.each<[string, () => unknown]>([
    ["text that is none", () => textBlock(1 as never)],
    ["bytes that are not base64", () => imageBlock({ data: "no!", mimeType: "image/png" })],
    ["base64 that was cut", () => imageBlock({ data: "AAA", mimeType: "image/png" })],
    ["bytes that are a list", () => imageBlock({ data: [1] as never, mimeType: "image/png" })],
    ["a type that is none", () => imageBlock({ data: bytes, mimeType: "png" })],
    ["a sound that is a picture", () => audioBlock({ data: bytes, mimeType: "image/png" })],
    ["a type with a line break", () => imageBlock({ data: bytes, mimeType: "image/png\r\nx: y" })],
    ["a URI that is relative", () => resourceBlock({ uri: "/a", text: "a" })],
    ["a URI with a blank", () => linkBlock({ uri: "app://a b", name: "a" })],
    ["a URI that is too long", () => linkBlock({ uri: `app://${"a".repeat(9000)}`, name: "a" })],
    ["a resource of nothing", () => resourceBlock({ uri: "app://a" } as never)],
    ["a link without a name", () => linkBlock({ uri: "app://a" } as never)],
    ["a size that is negative", () => linkBlock({ uri: "app://a", name: "a", size: -1 })],
    ["an icon over http", () => linkBlock({ uri: "app://a", name: "a", icons: [{ src: "http://a.test" }] })],
    ["an audience of nobody that there is", () => textBlock("a", { annotations: { audience: ["model"] as never } })],
    ["a priority over 1", () => textBlock("a", { annotations: { priority: 2 } })],
    ["a date that is none", () => textBlock("a", { annotations: { lastModified: "today" } })],
    ["a meta that is the protocol's", () => textBlock("a", { meta: { "io.modelcontextprotocol/x": 1 } })],
    ["JSON that looks like a block", () => content([{ type: "text", text: "a" } as never])],
    ["too many blocks", () => content(Array.from({ length: 1001 }, () => "a"))],
    ["no list", () => content("a" as never)],
  ])("a block or content of %s is refused where it is made", (_what, make) => {
    expect(thrownBy(make)).toMatchObject({ code: "INVALID_OPTION" });
  });

  it("isContent() knows what content() made, and nothing else, and never throws", () => {
    expect(isContent(content([]))).toBe(true);
    expect(isContent(structuredClone(content([])))).toBe(false);
    expect([undefined, null, 1, [], {}, { blocks: [] }].some(isContent)).toBe(false);
    const trap = new Proxy(
      {},
      {
        has: () => {
          throw new TypeError("a trap");
        },
      },
    );
    expect(isContent(trap)).toBe(false);
  });
});

describe("rich answers", () => {
  it("a tool answers richly without a word to programs when it declares no output", async () => {
    expect((await call({ handler: () => content(["a"]) })).outcome).toEqual({
      kind: "rich",
      blocks: '[{"type":"text","text":"a"}]',
      structured: undefined,
    });
  });

  it("what is said to programs is checked and written as a plain answer is", async () => {
    const output = z.object({ size: z.number(), at: z.date() });
    const structured = { size: 1, at: new Date(0) };
    expect((await call({ output, handler: async () => content([], { structured }) })).outcome).toMatchObject({
      kind: "rich",
      structured: '{"size":1,"at":"1970-01-01T00:00:00.000Z"}',
    });
    const undeclared = await call({ handler: () => content([], { structured: [1] }) });
    expect(undeclared.outcome).toMatchObject({ structured: '{"value":[1]}' });
  });

  it.each<[string, AnyBespokeTool, string]>([
    [
      "says nothing to programs",
      { output: z.object({ a: z.string() }), handler: () => content(["secret"]) },
      "INVALID_OUTPUT",
    ],
    [
      "says what does not fit",
      { output: z.object({ a: z.string() }), handler: () => content([], { structured: { a: 1, secret: 1 } }) },
      "INVALID_OUTPUT",
    ],
    ["has a block that is none", { handler: () => content([{ secret: 1 } as never]) }, "INTERNAL"],
    ["cannot be written", { handler: () => content([textBlock("a", { meta: { secret: 1n as never } })]) }, "INTERNAL"],
  ])("a rich answer that %s is masked and reported, and tells the caller nothing", async (_what, tool, code) => {
    const { outcome, faults } = await call(tool);
    expect(outcome).toMatchObject({ kind: "refused", code });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(faults).toHaveLength(1);
  });

  it("a member that returns content is refused as it would be over any link", async () => {
    const faults: Fault[] = [];
    const invoker = createInvoker({ report: (fault) => faults.push(fault) });
    const handlers = { run: () => content(["secret"]) };
    const entry = catalogOf({ run: mcpTool(procedure({})) }, { handlers }).tool("run");
    const outcome = entry && (await invoker.call(entry, {}, new CallContext()));
    invoker.close();
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(outcome?.kind).not.toBe("rich");
  });
});

import { expectError, expectType } from "tsd";
import {
  audioBlock,
  body,
  content,
  defineSurface,
  derive,
  imageBlock,
  linkBlock,
  mcp,
  mcpResource,
  mcpTool,
  cell,
  procedure,
  resourceBlock,
  richContent,
  textBlock,
  type Body,
  type Content,
  type ContentBlock,
  type RichContent,
  type SurfaceClient,
} from "surface-mcp";
import { z } from "zod";

const bytes = new Uint8Array();

expectType<ContentBlock>(textBlock("a", { annotations: { audience: ["user"], priority: 1 }, meta: { a: 1 } }));
expectType<ContentBlock>(imageBlock({ data: bytes, mimeType: "image/png" }));
expectType<ContentBlock>(audioBlock({ data: "AA==", mimeType: "audio/wav" }));
expectType<ContentBlock>(resourceBlock({ uri: "a://b", text: "a" }));
expectType<ContentBlock>(resourceBlock({ uri: "a://b", mimeType: "image/png", bytes }));
expectType<ContentBlock>(linkBlock({ uri: "a://b", name: "b", icons: [{ src: "https://a.test/b.png" }] }));
expectType<Content>(content(["a", textBlock("b")], { structured: { a: 1 } }));
expectType<Content>(content([]));
expectType<Body>(body({ mimeType: "text/plain", text: "a" }));

expectError(textBlock(1));
expectError(textBlock("a", { annotations: { audience: ["model"] } }));
expectError(textBlock("a", { meta: { a: () => 1 } }));
expectError(imageBlock({ data: bytes }));
expectError(imageBlock({ data: [1], mimeType: "image/png" }));
expectError(resourceBlock({ uri: "a://b" }));
expectError(resourceBlock({ uri: "a://b", text: "a", bytes }));
expectError(linkBlock({ uri: "a://b" }));
// A block is made, and not written: JSON that looks like one is none.
expectError(content([{ type: "text", text: "a" }]));
expectError(content("a"));
expectError<Content>({ content: [] });

// Looks are options of everything that is exposed.
mcpTool(procedure({}), { icons: [{ src: "data:image/png;base64,AA==", theme: "dark" }], meta: { "a/b": [1, null] } });
mcpResource(cell({ schema: z.number() }), { icons: [], meta: {} });
expectError(mcpTool(procedure({}), { icons: [{ href: "https://a.test" }] }));
expectError(mcpTool(procedure({}), { icons: "https://a.test" }));
expectError(mcpTool(procedure({}), { meta: { a: undefined, b: () => 1 } }));
expectError(mcpResource(cell({ schema: z.number() }), { meta: 1 }));

// A member may answer in blocks: its handler makes them, or writes the JSON that its clients get.
const plotter = defineSurface("plotter", { chart: mcpTool(procedure({ output: richContent })) });
declare const plotterClient: SurfaceClient<(typeof plotter)["members"]>;
expectType<Promise<RichContent>>(plotterClient.chart.call());
mcp(plotter).implement({ chart: () => content(["a"]) });
mcp(plotter).implement({ chart: async () => ({ blocks: [{ type: "text", text: "a" }], structured: [1] }) });
mcp(plotter).implement({ chart: derive.procedure(plotterClient.chart) });
expectError(mcp(plotter).implement({ chart: () => "a" }));
expectError(mcp(plotter).implement({ chart: () => ({ blocks: [{ type: "video" }] }) }));
expectError(mcp(plotter).implement({ chart: () => ({ blocks: [textBlock("a")] }) }));

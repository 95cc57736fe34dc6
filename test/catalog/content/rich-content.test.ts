import * as z from "zod";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mcp } from "../../../src/builder/mcp.ts";
import { content, imageBlock, linkBlock, resourceBlock, textBlock } from "../../../src/catalog/content/content.ts";
import { richContent } from "../../../src/catalog/content/rich-content.ts";
import { toToolOutput } from "../../../src/catalog/tool-schemas.ts";
import { inProcess } from "../../../src/links/in-process.ts";
import type { Link } from "../../../src/links/link.ts";
import { listenUnixSocket, unixSocket } from "../../../src/links/unix-socket.ts";
import { projected } from "../../../src/links/projected.ts";
import { toContract } from "../../../src/links/wire/contract.ts";
import type { JsonObject } from "../../../src/schema/json.ts";
import { withJsonSchema } from "../../../src/schema/standard.ts";
import { surfaceClientRef, projectSurface } from "../../../src/surface/project-surface.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { implementSurface } from "../../../src/surface/implement-surface.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { readOnly } from "../../../src/tags/read-only.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { toToolAnswer } from "../../../src/testing/tool-answer.ts";
import { afterThis, newFolder } from "../../links/unix/support.ts";

const bytes = new Uint8Array([0, 1, 254, 255]);
const base64 = "AAH+/w==";

const plotter = defineSurface("plotter", {
  chart: mcpTool(readOnly(procedure({ input: z.object({ name: z.string() }), output: richContent }))),
});

const blocks = [
  { type: "text", text: "tides" },
  { type: "image", data: base64, mimeType: "image/png", annotations: { priority: 1 } },
  { type: "resource", resource: { uri: "app://raw", blob: base64 } },
  { type: "resource", resource: { uri: "app://text", mimeType: "text/plain", text: "a" } },
  { type: "resource_link", uri: "app://more", name: "more", size: 3, icons: [{ src: "https://a.test/i.png" }] },
  { type: "text", text: "last", _meta: { "host/x": { y: [1] } } },
];

function implementPlotter() {
  return implementSurface(
    plotter,
    {
      chart: async ({ name }) =>
        content(
          [
            name,
            imageBlock({ data: bytes, mimeType: "image/png", annotations: { priority: 1 } }),
            resourceBlock({ uri: "app://raw", bytes }),
            resourceBlock({ uri: "app://text", mimeType: "text/plain", text: "a" }),
            linkBlock({ uri: "app://more", name: "more", size: 3, icons: [{ src: "https://a.test/i.png" }] }),
            textBlock("last", { meta: { "host/x": { y: [1] } } }),
          ],
          { structured: { at: new Date(0) } },
        ),
    },
    { onFault: () => {} },
  );
}

async function overSocket(live: ReturnType<typeof implementPlotter>): Promise<Link> {
  const path = join(await newFolder(), "s");
  const listener = await listenUnixSocket(live, path);
  afterThis(() => listener.close());
  return unixSocket(path);
}

const projection = projectSurface(
  plotter,
  defineSurface("desk", { chart: mcpTool(procedure({ input: z.object({ name: z.string() }), output: richContent })) }),
  (client) => ({ chart: derive.procedure(client.chart) }),
);

function open<TApp extends Parameters<typeof createTestClient>[0]>(app: TApp) {
  const client = createTestClient(app);
  afterThis(() => client.close());
  return client;
}

async function call(client: ReturnType<typeof open>, name: string, args: JsonObject = {}) {
  return toToolAnswer(await client.request("tools/call", { name, arguments: args }), (structured) => structured);
}

const ways = {
  "in process": async (live: ReturnType<typeof implementPlotter>) => mcp(plotter).bridge(inProcess(live)),
  "over a socket": async (live: ReturnType<typeof implementPlotter>) => mcp(plotter).bridge(await overSocket(live)),
  "through a projection": async (live: ReturnType<typeof implementPlotter>) =>
    mcp(projection).bridge(projected(projection, await overSocket(live))),
};

describe.each(Object.entries(ways))("a procedure that answers in blocks, %s", (_way, canCall) => {
  it("its tool gives the blocks and what is said to programs, and advertises no output schema", async () => {
    const live = implementPlotter();
    afterThis(() => live.close());
    const client = open(await canCall(live));
    const { tools } = await client.request("tools/list");
    expect(tools).toMatchObject([{ name: "chart" }]);
    expect(tools).not.toHaveProperty("0.outputSchema");
    const answer = await call(client, "chart", { name: "tides" });
    expect(answer).toMatchObject({ isError: false, structured: { at: "1970-01-01T00:00:00.000Z" } });
    expect(answer.content).toEqual(blocks);
  });
});

describe("richContent", () => {
  it("gives a typed client the answer as JSON, whichever the link", async () => {
    const live = implementPlotter();
    afterThis(() => live.close());
    const ref = surfaceClientRef(live);
    const here = await ref.client.chart.call({ name: "tides" });
    expect(here).toEqual({ blocks, structured: { at: "1970-01-01T00:00:00.000Z" } });
    const app = mcp(plotter)
      .bridge(await overSocket(live))
      .tools({
        pass: {
          output: richContent,
          handler: async (_args, { client }) => client.chart.call({ name: "tides" }),
        },
        look: { handler: async (_args, { client }) => client.chart.call({ name: "tides" }) },
      });
    const client = open(app);
    // Where nothing else is said, a tool answers with the JSON that its handler returned.
    expect(await call(client, "look")).toMatchObject({ structured: JSON.parse(JSON.stringify(here)) });
    expect((await call(client, "pass")).content).toEqual(blocks);
  });

  it("takes the same as JSON from a handler, and leaves out what is no part of a block", () => {
    const given = { blocks: [{ type: "text", text: "a", extra: 1 }, blocks[1]], structured: null };
    expect(richContent["~standard"].validate(given)).toEqual({
      value: { blocks: [{ type: "text", text: "a" }, blocks[1]], structured: null },
    });
  });

  it.each([
    [undefined],
    [null],
    ["text"],
    [[]],
    [{ blocks: "text" }],
    [{ blocks: ["text"] }],
    [{ blocks: [{ type: "video", data: base64 }] }],
    [{ blocks: [{ type: "constructor" }] }],
    [{ blocks: [{ type: "text", text: 5 }] }],
    [{ blocks: [{ type: "text", text: "a", annotations: null }] }],
    [{ blocks: [{ type: "text", text: "a", annotations: { audience: ["me"] } }] }],
    [{ blocks: [{ type: "text", text: "a", _meta: { "modelcontextprotocol/x": 1 } }] }],
    [{ blocks: [{ type: "image", data: "%%%%", mimeType: "image/png" }] }],
    [{ blocks: [{ type: "image", data: base64, mimeType: "text/plain" }] }],
    [{ blocks: [{ type: "image", data: base64, mimeType: `image/${"a".repeat(300)}` }] }],
    [{ blocks: [{ type: "resource", resource: null }] }],
    [{ blocks: [{ type: "resource", resource: { uri: "none", text: "a" } }] }],
    [{ blocks: [{ type: "resource_link", uri: "a://b", name: "a", icons: [{ src: "http://a.test/i.png" }] }] }],
    [{ blocks: [], structured: () => 1 }],
  ])("refuses %j, and says why", (given) => {
    const checked = richContent["~standard"].validate(given);
    expect(checked).toMatchObject({ issues: [{ message: expect.any(String) }] });
  });

  it("refuses more than 1000 blocks", () => {
    const given = { blocks: Array.from({ length: 1001 }, () => ({ type: "text", text: "a" })) };
    expect(richContent["~standard"].validate(given)).toHaveProperty("issues");
  });

  it("says nothing of what is thrown at it", () => {
    const given = {
      get blocks(): never {
        throw new TypeError("secret");
      },
    };
    const checked = richContent["~standard"].validate(given);
    expect(checked).toEqual({ issues: [{ message: "expected the result of content()" }] });
  });

  it("withholds what a handler returns that fits none of it, and tells the owner", async () => {
    const faults: Fault[] = [];
    const app = mcp(plotter, { onFault: (fault) => faults.push(fault) }).implement({
      // What an honest author's types would not let through.
      chart: () => ({ blocks: [{ type: "video" }] }) as never,
    });
    const answer = await call(open(app), "chart", { name: "a" });
    expect(answer).toMatchObject({ isError: true, code: "INVALID_OUTPUT" });
    expect(JSON.stringify(answer)).not.toContain("video");
    expect(faults).toHaveLength(1);
  });

  it("is part of what two ends have to agree on", () => {
    const other = procedure({ output: z.object({ blocks: z.array(z.string()) }) });
    const { hash } = toContract(procedure({ output: richContent }), "chart");
    expect(toContract(other, "chart").hash).not.toBe(hash);
  });

  it("is known where another copy of the package made it", () => {
    const copy = { "~standard": richContent["~standard"], [Symbol.for("surface-mcp.rich-content")]: true };
    expect(toToolOutput(copy, "a tool")).toMatchObject({ json: undefined, rich: "always" });
    expect(toToolOutput(z.object({ blocks: z.array(z.string()) }), "a tool").rich).toBeUndefined();
  });
});

/** A backend that speaks the same contract, and answers with whatever it likes. */
function hostile(answer: unknown) {
  const anything: StandardSchemaV1 = {
    "~standard": { version: 1, vendor: "hostile", validate: (value) => ({ value }) },
  };
  const json = richContent["~standard"].jsonSchema.output({ target: "draft-2020-12" });
  const output = withJsonSchema(anything, json as Parameters<typeof withJsonSchema>[1]);
  const surface = defineSurface("plotter", {
    chart: mcpTool(readOnly(procedure({ input: z.object({ name: z.string() }), output }))),
  });
  return implementSurface(surface, { chart: () => answer }, { onFault: () => {} });
}

describe("blocks of a backend that cannot be trusted", () => {
  it.each([
    // What the contract already refuses.
    [{ blocks: [{ type: "video", data: base64 }] }],
    [{ blocks: [{ type: "image", data: 5, mimeType: "image/png" }] }],
    [{ blocks: [{ type: "image", data: base64, mimeType: `image/${"a".repeat(300)}` }] }],
    [{ blocks: "secret" }],
    // What only a second look finds.
    [{ blocks: [{ type: "image", data: "<secret>", mimeType: "image/png" }] }],
    [{ blocks: [{ type: "image", data: base64, mimeType: "text/html" }] }],
    [{ blocks: [{ type: "text", text: "secret", _meta: { "modelcontextprotocol.io/secret": 1 } }] }],
    [{ blocks: [{ type: "resource_link", uri: "secret", name: "a" }] }],
    [{ blocks: [{ type: "resource_link", uri: "a://b", name: "a", icons: [{ src: "file:///secret" }] }] }],
  ])("are not shown where they are no blocks: %j", async (answer) => {
    const live = hostile(answer);
    afterThis(() => live.close());
    const path = join(await newFolder(), "s");
    const listener = await listenUnixSocket(live, path);
    afterThis(() => listener.close());
    const client = open(mcp(plotter, { onFault: () => {} }).bridge(unixSocket(path)));
    const shown = await call(client, "chart", { name: "a" });
    expect(shown).toMatchObject({ isError: true, code: "INVALID_OUTPUT" });
    expect(JSON.stringify(shown)).not.toMatch(/secret|html|video/);
  });

  it("are shown without what is no part of them", async () => {
    const live = hostile({ blocks: [{ type: "text", text: "a", isError: true, secret: "x" }], secret: "y" });
    afterThis(() => live.close());
    const path = join(await newFolder(), "s");
    const listener = await listenUnixSocket(live, path);
    afterThis(() => listener.close());
    const shown = await call(open(mcp(plotter).bridge(unixSocket(path))), "chart", { name: "a" });
    expect(shown.content).toEqual([{ type: "text", text: "a" }]);
  });
});

import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { content, imageBlock } from "../../src/catalog/content/content.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import { anonymous, type Caller } from "../../src/surface/caller.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { envelope, handshake } from "../fixtures/envelope.ts";
import { ConnectionHarness, type Sent } from "./connection-harness.ts";

const id = "io.modelcontextprotocol/ui";
const mimeType = "text/html;profile=mcp-app";
const capable = { extensions: { [id]: { mimeTypes: [mimeType] }, "com.example/unknown": { any: [1] } } };
const eras = ["legacy", "modern"] as const;

const surface = defineSurface("shop", {
  "cart.show": mcpTool(procedure({ output: z.object({ items: z.number() }) }), {
    mutates: false,
    ui: {
      html: "<p>cart</p>",
      csp: { connectDomains: ["https://api.example.com"], resourceDomains: ["https://*.example.com"] },
      permissions: { camera: true, microphone: false },
      prefersBorder: true,
      domain: "shop.example.com",
    },
  }),
  plain: mcpTool(procedure({ output: z.string() })),
});

const faults: Fault[] = [];
let folder: string;

function openApp(html: () => unknown = () => "<p>late</p>") {
  return mcp(surface, { onFault: (fault) => void faults.push(fault) })
    .implement({ "cart.show": () => ({ items: 2 }), plain: () => "text" })
    .tools({
      set: { ui: { visibility: ["app"] }, handler: () => "set" },
      file: { mutates: false, ui: { html: pathToFileURL(join(folder, "page.html")) }, handler: () => "file" },
      late: { mutates: false, scopes: ["shop:late"], ui: { html: html as () => string }, handler: () => "late" },
      chart: {
        mutates: false,
        ui: { html: "<p>" },
        handler: () => content([imageBlock({ data: new Uint8Array([1]), mimeType: "image/png" })]),
      },
    })
    .views({ bare: { disallow: ["cart.*"] }, none: { allow: ["plain", "set"] }, few: { face: "gateway" } });
}

interface Peer {
  readonly era: (typeof eras)[number];
  readonly capabilities?: object;
  readonly caller?: Caller;
  readonly version?: string;
}

/** Opens a connection of a client, and returns what a request is answered with. */
async function connect(app: ServableApp, { era, capabilities = capable, caller, version }: Peer) {
  const harness = new ConnectionHarness(app.open(), caller);
  const meta = { _meta: { ...envelope, "io.modelcontextprotocol/clientCapabilities": capabilities } };
  const hello = { ...handshake, capabilities, ...(version === undefined ? {} : { protocolVersion: version }) };
  const opened =
    era === "legacy"
      ? await harness.request(era, "hello", { method: "initialize", params: hello })
      : await harness.request(era, "hello", { method: "server/discover", params: meta });
  let count = 0;
  const ask = (method: string, params: object = {}): Promise<Sent> =>
    harness.request(era, (count += 1), { method, params: era === "modern" ? { ...params, ...meta } : params });
  const read = (uri: string): Promise<Sent> => ask("resources/read", { uri });
  const tools = async (): Promise<Readonly<Record<string, { readonly _meta?: unknown }>>> => {
    // As the server writes it.
    const { result } = (await ask("tools/list")) as { result: { tools: { name: string; _meta?: unknown }[] } };
    return Object.fromEntries(result.tools.map((tool) => [tool.name, tool]));
  };
  return { opened, ask, read, tools, close: () => harness.close() };
}

const inView = (view: string): Caller => ({ ...anonymous, view: { surface: view } });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "apps-"));
  await writeFile(join(folder, "page.html"), "<p>first</p>");
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(eras)("MCP Apps for a client of the era %s", (era) => {
  it("declares the extension and the pages of tools to a client that shows pages", async () => {
    const client = await connect(openApp(), { era });
    expect(client.opened).toHaveProperty("result.capabilities.extensions", { [id]: { mimeTypes: [mimeType] } });
    const tools = await client.tools();
    expect(tools["cart_show"]).toHaveProperty("_meta", {
      ui: { resourceUri: "ui://shop/cart_show" },
      "ui/resourceUri": "ui://shop/cart_show",
    });
    expect(tools["set"]).toHaveProperty("_meta", { ui: { visibility: ["app"] } });
    expect(tools["plain"]).not.toHaveProperty("_meta");
    await client.close();
  });

  it.each([
    {},
    { extensions: {} },
    { extensions: { [id]: {} } },
    { extensions: { [id]: { mimeTypes: ["text/html"] } } },
    { extensions: { [id]: { mimeTypes: mimeType } } },
    { extensions: { [id]: null } },
    { extensions: [id] },
    { extensions: "ui" },
    { experimental: { [id]: { mimeTypes: [mimeType] } } },
  ])("declares and lists no page to a client with the capabilities %j", async (capabilities) => {
    const client = await connect(openApp(), { era, capabilities });
    expect(client.opened).toHaveProperty("result.capabilities");
    expect(client.opened).not.toHaveProperty("result.capabilities.extensions");
    const tools = await client.tools();
    expect(Object.keys(tools)).toEqual(["cart_show", "chart", "file", "plain", "set"]);
    expect(Object.values(tools).filter((tool) => "_meta" in tool)).toEqual([]);
    await client.close();
  });

  it("serves a page with its origins and permissions, and lists it nowhere", async () => {
    const client = await connect(openApp(), { era });
    expect(await client.read("ui://shop/cart_show")).toHaveProperty("result.contents", [
      {
        uri: "ui://shop/cart_show",
        mimeType,
        text: "<p>cart</p>",
        _meta: {
          ui: {
            csp: { connectDomains: ["https://api.example.com"], resourceDomains: ["https://*.example.com"] },
            permissions: { camera: {} },
            prefersBorder: true,
            domain: "shop.example.com",
          },
        },
      },
    ]);
    expect(await client.ask("resources/list")).toHaveProperty("result.resources", []);
    expect(await client.ask("resources/templates/list")).toHaveProperty("result.resourceTemplates", []);
    await client.close();
  });

  it("reads a file and a function again for each request", async () => {
    let count = 0;
    const client = await connect(
      openApp(() => `<p>${(count += 1)}</p>`),
      { era, caller: holder(["shop:late"]) },
    );
    expect(await client.read("ui://shop/late")).toHaveProperty("result.contents.0.text", "<p>1</p>");
    expect(await client.read("ui://shop/late")).toHaveProperty("result.contents.0.text", "<p>2</p>");
    await writeFile(join(folder, "page.html"), "<p>second</p>");
    expect(await client.read("ui://shop/file")).toHaveProperty("result.contents.0.text", "<p>second</p>");
    await client.close();
  });

  it("hides the page of a tool that the view or a scope hides", async () => {
    const app = openApp();
    const bare = await connect(app, { era, caller: inView("bare") });
    const absent = await bare.read("ui://shop/never");
    const hidden = await bare.read("ui://shop/cart_show");
    expect(JSON.stringify(hidden).replaceAll("cart_show", "never")).toBe(
      JSON.stringify(absent).replace('"id":1', '"id":2'),
    );
    await bare.close();
    const none = await connect(app, { era, caller: inView("none") });
    expect(none.opened).not.toHaveProperty("result.capabilities.extensions");
    await none.close();
    const gateway = await connect(app, { era, caller: inView("few") });
    expect(gateway.opened).not.toHaveProperty("result.capabilities.extensions");
    expect(await gateway.read("ui://shop/cart_show")).toHaveProperty("error");
    await gateway.close();
    const reader = await connect(app, { era, caller: holder([]) });
    expect(await reader.read("ui://shop/late")).toHaveProperty("error.data", { scopes: ["shop:read", "shop:late"] });
    await reader.close();
  });

  it("answers a call of a tool for pages alone, whatever the client can show", async () => {
    const client = await connect(openApp(), { era, capabilities: {} });
    expect(await client.ask("tools/call", { name: "set" })).toHaveProperty("result.content.0.text", "set");
    await client.close();
  });

  it("adds a text to the result of a tool with a page if it has none", async () => {
    const client = await connect(openApp(), { era });
    expect(await client.ask("tools/call", { name: "chart" })).toHaveProperty("result.content", [
      { type: "image", data: "AQ==", mimeType: "image/png" },
      { type: "text", text: "chart: the result has no text" },
    ]);
    await client.close();
  });

  it("sends a page of 4 MiB whole, and withholds a larger one and every fault", async () => {
    const pages: unknown[] = ["<".padEnd(4_194_304, "é"), "<".padEnd(4_194_305, "é"), 42, new Error("secret")];
    const next = (): unknown => {
      const page = pages.shift();
      if (page instanceof Error) throw page;
      return page;
    };
    const client = await connect(openApp(next), { era, caller: holder(["shop:late"]) });
    const whole = await client.read("ui://shop/late");
    expect(whole).toHaveProperty("result.contents.0.text.length", 4_194_304);
    faults.length = 0;
    const failed = [await client.read("ui://shop/late"), await client.read("ui://shop/late")];
    expect(failed.map(({ error }) => error)).toMatchObject([
      { data: { code: "INVALID_OUTPUT" } },
      { data: { code: "INVALID_OUTPUT" } },
    ]);
    expect(await client.read("ui://shop/late")).toHaveProperty("error.data.code", "INTERNAL");
    await truncate(join(folder, "page.html"), 4_194_305);
    expect(await client.read("ui://shop/file")).toHaveProperty("error.data.code", "INVALID_OUTPUT");
    await rm(join(folder, "page.html"));
    const missing = await client.read("ui://shop/file");
    expect(missing).toHaveProperty("error.data.code", "INTERNAL");
    expect(JSON.stringify([failed, missing])).not.toContain(folder);
    expect(faults.map(({ where }) => where)).toHaveLength(5);
    await writeFile(join(folder, "page.html"), "<p>first</p>");
    await client.close();
  });
});

function holder(scopes: readonly string[]): Caller {
  return { id: "ann", isAnonymous: false, scopes: scopes.length === 0 ? [] : ["shop:read", ...scopes] };
}

describe("an app without pages", () => {
  const app = mcp(defineSurface("s", { act: mcpTool(procedure({ output: z.string() })) })).implement({
    act: () => "acted",
  });

  it.each(eras)("declares nothing to a client of the era %s that shows pages", async (era) => {
    const client = await connect(app, { era });
    expect(client.opened).toHaveProperty("result.capabilities");
    expect(client.opened).not.toHaveProperty("result.capabilities.extensions");
    expect(await client.read("ui://s/act")).toHaveProperty("error");
    await client.close();
  });

  it("has no extension on the path of a request", async () => {
    const runtime = app.open();
    expect(runtime.extensions).toEqual([]);
    await runtime.close();
  });
});

it.each(["2024-11-05", "2025-06-18"])("declares pages to a client of %s that has declared them", async (version) => {
  const client = await connect(openApp(), { era: "legacy", version });
  expect(client.opened).toHaveProperty(["result", "capabilities", "extensions", id], { mimeTypes: [mimeType] });
  expect((await client.tools())["cart_show"]).toHaveProperty("_meta.ui");
  await client.close();
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { http, type HttpServing } from "../../src/http/http.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { httpClients } from "./support/http-clients.ts";

const id = "io.modelcontextprotocol/ui";
const settings = { mimeTypes: ["text/html;profile=mcp-app"] };

const app = mcp(
  defineSurface("shop", {
    show: mcpTool(procedure({ output: z.string() }), { mutates: false, ui: { html: "<p>".padEnd(2_000_000) } }),
    set: mcpTool(procedure({ output: z.string() }), { ui: { visibility: ["app"] } }),
  }),
).implement({ show: () => "shown", set: () => "set" });

let serving: HttpServing;
beforeAll(async () => {
  serving = await http({ port: 0, allowAnonymous: true }).serve(app);
});
afterAll(() => serving.close());

describe.each(httpClients)("MCP Apps over HTTP for the client $name", ({ connect }) => {
  const url = (): string => `http://127.0.0.1:${serving.port}/mcp`;

  it("are declared, listed and read if it shows pages", async () => {
    const client = await connect({ url: url(), extensions: { [id]: settings } });
    expect(client.extensions()).toEqual({ [id]: settings });
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      { name: "set", _meta: { ui: { visibility: ["app"] } } },
      { name: "show", _meta: { ui: { resourceUri: "ui://shop/show" }, "ui/resourceUri": "ui://shop/show" } },
    ]);
    const page = await client.readResource({ uri: "ui://shop/show" });
    expect(page).toMatchObject({ contents: [{ mimeType: settings.mimeTypes[0] }] });
    expect(page).toHaveProperty("contents.0.text.length", 2_000_000);
    expect(await client.callTool({ name: "set" })).toHaveProperty("content.0.text", "set");
    await client.close();
  });

  it("are not mentioned if it shows none", async () => {
    const client = await connect({ url: url() });
    expect(client.extensions()).toBeUndefined();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["set", "show"]);
    expect(JSON.stringify(tools)).not.toContain('"_meta"');
    await client.close();
  });
});

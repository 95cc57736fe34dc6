/**
 * Serves the router or the document by one of the packages, over stdio: `node serve.mjs BRIDGE REQUEST`, where REQUEST is JSON.
 * Runs in the folder where the packages are installed.
 */
import { createRouter } from "./create-router.mjs";

const [bridge, request = "{}"] = process.argv.slice(2);
const { enabled = true, document, baseUrl, expose, headers } = JSON.parse(request);

const bridges = {
  "surface-mcp/from/trpc": async () => {
    const { loadTrpc, mcpTrpc } = await import("surface-mcp/from/trpc");
    const names = ["order.show", "order.cancel", "order.at", "order.wrong", "plant", "rename", "reports.daily"];
    const all = [...names, "orders", "fail", "who", "wait", "aborted", "ticks"];
    const map = Object.fromEntries(enabled ? all.map((name) => [name, "tool"]) : []);
    const router = await loadTrpc(createRouter(true));
    await mcpTrpc(router, map, { context: ({ id }) => ({ user: id }), onFault: () => {} }).serve();
  },
  "trpc-to-mcp": async () => {
    const { createMcpServer } = await import("trpc-to-mcp");
    const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
    const context = (...args) => ({ user: args.length === 0 ? "nobody" : args });
    const server = createMcpServer({ name: "shop", version: "1.0.0" }, createRouter(enabled), context);
    await server.connect(new StdioServerTransport());
  },
  "surface-mcp/from/openapi": async () => {
    const { defineSurface, mcp } = await import("surface-mcp");
    const { fromOpenApi } = await import("surface-mcp/from/openapi");
    const source = fromOpenApi(document, expose, { baseUrl, credentials: () => headers });
    await mcp(defineSurface("shop", {}), { onFault: () => {} })
      .implement({})
      .mount("api", source)
      .serve();
  },
  fastmcp: async () => {
    const { fromOpenAPI } = await import("fastmcp/openapi");
    const server = await fromOpenAPI({ spec: document, baseUrl, headers });
    await server.start({ transportType: "stdio" });
  },
};
await bridges[bridge]();

import { describe, expect, it } from "vitest";
import { bundle, reachedFrom, sourcesOf } from "./built-package.ts";

/** Bytes, minified and with packages left outside: what was measured, and a tenth. A larger number is a decision. */
const budget = {
  everything: 476_200,
  app: 443_550,
  edge: 532_350,
  later: 66_100,
  surfaceOnly: 4_400,
  surfaceOnlySplit: 33_000,
};

const surfaceOnly = `
  import { cell, defineSurface } from "surface-mcp";
  console.log(defineSurface("a", { b: cell({}) }));`;

const bridged = `
  import { cell, defineSurface, mcp, mcpResource, unixSocket } from "surface-mcp";
  await mcp(defineSurface("a", { b: mcpResource(cell({})) })).bridge(unixSocket("c")).serve();`;

const fetched = `
  import { cell, cellSource, defineSurface, mcp, mcpResource } from "surface-mcp";
  import { httpHandler } from "surface-mcp/http";
  const app = mcp(defineSurface("a", { b: mcpResource(cell({})) })).implement({ b: cellSource(1) });
  export default { fetch: httpHandler(app).web };`;

const folderOf = (source: string): string => source.split("/")[1] ?? "";

describe("the bundle", () => {
  it("everything the main entry exports stays within its bytes when it is bundled", async () => {
    const { bytes } = await bundle(`export * from "surface-mcp";`, { splitting: true });
    expect(bytes).toBeGreaterThan(budget.everything / 2);
    expect(bytes).toBeLessThanOrEqual(budget.everything);
  });

  it("what the main entry loads later stays within its bytes when it is bundled", async () => {
    const { laterBytes, imports } = await bundle(`export * from "surface-mcp";`, { splitting: true });
    expect(laterBytes).toBeLessThanOrEqual(budget.later);
    expect(imports.filter((name) => !name.startsWith("node:"))).toEqual([]);
    expect(imports).not.toContain("node:net");
  });

  it("an app has nothing of what it does not name, and stays within its bytes, when it is bundled", async () => {
    const { text } = await bundle(bridged, { splitting: true, minify: false });
    const named = ["projectSurface", "siblingLinks", "surfaceClients", "listenUnixSocket", "webSocket"];
    expect(text).toContain("function createOwner(");
    expect(named.filter((name) => text.includes(`function ${name}(`))).toEqual([]);
    const { bytes } = await bundle(bridged, { splitting: true });
    expect(bytes).toBeLessThanOrEqual(budget.app);
  });

  it("an app that answers fetch stays within its bytes when it is bundled", async () => {
    const { bytes } = await bundle(fetched);
    expect(bytes).toBeLessThanOrEqual(budget.edge);
  });

  it("the main entry loads only the folders that serve over stdio, and no link's wire, when it is imported", () => {
    const sources = sourcesOf(reachedFrom(["dist/index.js"], "now"));
    expect(sources).toContain("src/surface/owner/create-owner.ts");
    expect(sources.filter((path) => /\/links\/(?:wire|transport|unix|stdio|web)\//.test(path))).toEqual([]);
    expect([...new Set(sources.map(folderOf))].toSorted()).toEqual([
      "builder",
      "call",
      "catalog",
      "errors.ts",
      "gateway",
      "json-rpc",
      "links",
      "mcp",
      "observe",
      "options",
      "schema",
      "spine",
      "stdio",
      "surface",
      "tags",
      "views",
    ]);
  });

  it("an app that is served over HTTP loads no server of node's, nor keys of tokens, before it listens when it is bundled", async () => {
    const { imports } = await bundle(`export * from "surface-mcp/http";`, { splitting: true });
    expect(sourcesOf(["dist/http/index.js"])).toContain("src/http/http-pipeline.ts");
    expect(imports.filter((name) => ["node:http", "node:net", "jose"].includes(name))).toEqual([]);
  });

  it.each([
    ["from/agentic", /\/from\/(?:agent|invoker|openapi|orpc|rpc|trpc)\/|\/sdk-v1\//],
    ["from/invoker", /\/from\/(?:agent|agentic|openapi|orpc|rpc|trpc)\/|\/sdk-v1\//],
    ["from/agent", /\/from\/(?:agentic|invoker|openapi|orpc|rpc|trpc)\/|\/sdk-v1\//],
    ["from/trpc", /\/from\/(?:agent|agentic|invoker|openapi|orpc)\/|\/sdk-v1\//],
    ["from/orpc", /\/from\/(?:agent|agentic|invoker|openapi|trpc)\/|\/sdk-v1\//],
    ["from/openapi", /\/from\/(?:agent|agentic|invoker|orpc|trpc)\/|\/sdk-v1\//],
    ["sdk-v1", /\/from\//],
    ["otel", /\/(?:from|sdk-v1)\//],
    ["audit", /\/(?:from|sdk-v1)\//],
    ["redis", /\/(?:from|sdk-v1|catalog)\//],
  ])(
    "%s brings nothing of another entry, of HTTP or of somebody else's SDK when it is bundled",
    async (entry, other) => {
      const sources = sourcesOf(reachedFrom([`dist/${entry}/index.js`], "now"));
      expect(sources.filter((path) => path.startsWith(`src/${entry}/`)).length).toBeGreaterThan(0);
      expect(sources.filter((path) => other.test(path) || path.startsWith("src/http/"))).toEqual([]);
      const { imports } = await bundle(`export * from "surface-mcp/${entry}";`, { splitting: true });
      expect(
        imports.filter((name) => /^@(?:adobe|modelcontextprotocol|orpc|trpc)\/|^node:(?:http|net)$/.test(name)),
      ).toEqual([]);
    },
  );

  it("a module that only describes a surface brings neither a package nor a server when it is bundled", async () => {
    const { bytes, files, imports } = await bundle(surfaceOnly);
    expect(imports).toEqual([]);
    expect(files).toEqual(["dist/chunks/define.js", "dist/index.js"]);
    const folders = new Set(sourcesOf(files).map(folderOf));
    expect([...folders].toSorted()).toEqual(["errors.ts", "options", "schema", "surface", "tags"]);
    expect(bytes).toBeLessThanOrEqual(budget.surfaceOnly);
  });

  it("a module that only describes a surface loads no server when its bundle is split", async () => {
    // A bundler that splits keeps what the package loads later, and the chunks shared with it.
    const { bytes, files } = await bundle(surfaceOnly, { splitting: true });
    expect(files).not.toContain("dist/chunks/server.js");
    expect(bytes).toBeLessThanOrEqual(budget.surfaceOnlySplit);
  });
});

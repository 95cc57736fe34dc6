import { describe, expect, it } from "vitest";
import { bundle } from "./built-package.ts";

/** Bytes, minified and with packages left outside: what was measured, and a tenth. A larger number is a decision. */
const budget = { everything: 468_000, app: 435_000, later: 84_800, surfaceOnly: 4_400 };

describe("the bundle", () => {
  it("everything the main entry exports stays within its bytes when it is bundled", async () => {
    const { bytes, files } = await bundle(`export * from "surface-mcp";`, { splitting: true });
    expect(files.length).toBeGreaterThan(40);
    expect(bytes).toBeLessThanOrEqual(budget.everything);
  });

  it("what the main entry loads later stays within its bytes, and what links need is among it, when it is bundled", async () => {
    const { laterBytes, files, imports } = await bundle(`export * from "surface-mcp";`, { splitting: true });
    expect(laterBytes).toBeLessThanOrEqual(budget.later);
    expect(files.filter((path) => /\/links\/(?:wire|transport|unix|stdio|web)\//.test(path))).toEqual([]);
    expect(imports.filter((name) => !name.startsWith("node:"))).toEqual([]);
    expect(imports).not.toContain("node:net");
  });

  it("an app has nothing of what it does not name, and stays within its bytes, when it is bundled", async () => {
    const code = `
      import { cell, defineSurface, mcp, mcpResource, unixSocket } from "surface-mcp";
      await mcp(defineSurface("a", { b: mcpResource(cell({})) })).bridge(unixSocket("c")).serve();`;
    const { bytes, files } = await bundle(code, { splitting: true });
    expect(files).toContain("dist/surface/owner/create-owner.js");
    const named =
      /\/surface\/(?:derive\/|project-surface)|\/links\/(?:projected|sibling-links|surface-clients|listen-)/;
    expect(files.filter((path) => named.test(path))).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(budget.app);
  });

  it("a face that is served over stdio loads only the folders that serve it when the main entry is bundled", async () => {
    const { files } = await bundle(`export * from "surface-mcp";`, { splitting: true });
    expect([...new Set(files.map((path) => path.split("/")[1] ?? ""))].toSorted()).toEqual([
      "builder",
      "call",
      "catalog",
      "errors.js",
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
    const { files, imports } = await bundle(`export * from "surface-mcp/http";`, { splitting: true });
    expect(files).toContain("dist/http/http-pipeline.js");
    expect(files.filter((path) => path.includes("/stdio/"))).toEqual([]);
    expect(imports.filter((name) => ["node:http", "node:net", "jose"].includes(name))).toEqual([]);
  });

  it.each([
    ["from/agentic", /\/from\/(?:agent|invoker)\/|\/sdk-v1\//],
    ["from/invoker", /\/from\/(?:agent|agentic)\/|\/sdk-v1\//],
    ["from/agent", /\/from\/(?:agentic|invoker)\/|\/sdk-v1\//],
    ["sdk-v1", /\/from\//],
  ])(
    "%s brings nothing of another entry, of HTTP or of somebody else's SDK when it is bundled",
    async (entry, other) => {
      const { files, imports } = await bundle(`export * from "surface-mcp/${entry}";`, { splitting: true });
      expect(files.filter((path) => path.startsWith(`dist/${entry}/`)).length).toBeGreaterThan(0);
      expect(files.filter((path) => other.test(path) || path.startsWith("dist/http/"))).toEqual([]);
      expect(imports.filter((name) => /^@(?:adobe|modelcontextprotocol)\/|^node:(?:http|net)$/.test(name))).toEqual([]);
    },
  );

  it("a module that only describes a surface brings neither the SDK nor a server when it is bundled", async () => {
    const code = `import { cell, defineSurface } from "surface-mcp"; console.log(defineSurface("a", { b: cell({}) }));`;
    const { bytes, files, imports } = await bundle(code);
    expect(imports.filter((name) => !name.startsWith("node:"))).toEqual([]);
    const folders = [...new Set(files.map((path) => path.split("/")[1]))];
    expect(
      folders.filter(
        (folder) => !["errors.js", "index.js", "options", "tags", "surface", "schema"].includes(folder ?? ""),
      ),
    ).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(budget.surfaceOnly);
  });
});

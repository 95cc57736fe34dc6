import { describe, expect, it } from "vitest";
import { manifest } from "./package-entries.ts";
import { findSdkImports, findUndeclaredPackages } from "./rules/package-imports.ts";
import { readSources, toSource } from "./source.ts";

const sources = readSources("src");
// A peer is the application's to install. Of zod nothing but types is taken: test/pins says so.
const declared = [...Object.keys(manifest.dependencies), "zod"];

describe("the packages that src imports", () => {
  it("no file imports the protocol SDK when src is read", () => {
    expect(findSdkImports(sources)).toEqual([]);
  });

  it("src imports only what package.json promises to install when src is read", () => {
    expect(findUndeclaredPackages(sources, declared)).toEqual([]);
  });

  it.each([
    ["a type of it", "src/mcp/a.ts", `import type { Server } from "@modelcontextprotocol/server";`],
    ["it in a type", "src/mcp/a.ts", `export type S = import("@modelcontextprotocol/server").Server;`],
    ["it later", "src/stdio/a.ts", `export const f = () => import("@modelcontextprotocol/server/stdio");`],
    ["its client", "src/testing/a.ts", `import { Client } from "@modelcontextprotocol/client";`],
  ])("findSdkImports() objects when a file imports %s", (_what, path, text) => {
    expect(findSdkImports([toSource(path, text)])).toHaveLength(1);
  });

  it("findUndeclaredPackages() objects when a file imports a package that only development installs", () => {
    const text = `import ts from "typescript";\nimport { z } from "zod/mini";\nimport { join } from "node:path";`;
    expect(findUndeclaredPackages([toSource("src/a/a.ts", text)], declared)).toEqual([
      'src/a/a.ts:1 imports "typescript"',
    ]);
  });

  it("findUndeclaredPackages() objects when a file that is not on the list imports what only run time knows", () => {
    const text = `export const f = (name: string): Promise<unknown> => import(name);`;
    expect(findUndeclaredPackages([toSource("src/a/a.ts", text)], declared)).toHaveLength(1);
    expect(findUndeclaredPackages([toSource("src/cli/replay.ts", text)], declared)).toHaveLength(1);
  });
});

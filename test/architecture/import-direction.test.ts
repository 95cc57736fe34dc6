import { describe, expect, it } from "vitest";
import { findUnusedExceptions, findWrongDirections } from "./rules/import-direction.ts";
import { folderOf, readSources, toSource } from "./source.ts";

const sources = readSources("src");

describe("import direction", () => {
  it("readSources() finds the files of every layer when it walks src", () => {
    const folders = new Set(sources.map((source) => folderOf(source.path)));
    expect([...folders]).toEqual(expect.arrayContaining(["errors", "tags", "schema", "surface", "mcp", "index"]));
    expect(sources.length).toBeGreaterThan(40);
  });

  it("a folder imports only what stands left of it when src is read", () => {
    expect(findWrongDirections(sources)).toEqual([]);
  });

  it("every exception is needed when src is read", () => {
    expect(findUnusedExceptions(sources)).toEqual([]);
  });

  it.each([
    ["a value from the right", "src/surface/a.ts", `import { x } from "../mcp/x.ts";`],
    ["a type from the right", "src/tags/a.ts", `import type { X } from "../surface/x.ts";`],
    ["a type inline", "src/tags/a.ts", `export type X = import("../surface/x.ts").X;`],
    ["a folder of the same group", "src/tags/a.ts", `import { x } from "../schema/x.ts";`],
    ["a re-export from the right", "src/errors.ts", `export { x } from "./tags/x.ts";`],
    ["a module loaded later", "src/call/a.ts", `export const f = () => import("../mcp/x.ts");`],
    ["http from the builder", "src/builder/a.ts", `import type { X } from "../http/x.ts";`],
    ["a folder without a place", "src/utils/a.ts", `import { x } from "../errors.ts";`],
    ["a file of the tests", "src/testing/a.ts", `import { x } from "../../test/x.ts";`],
  ])("findWrongDirections() objects when a file imports %s", (_what, path, text) => {
    expect(findWrongDirections([toSource(path, text)])).toHaveLength(1);
  });

  it("findWrongDirections() is content when a file imports from the left and from its own folder", () => {
    const text = `import { a } from "../errors.ts";\nimport { b } from "./b.ts";\nimport { z } from "zod";`;
    expect(findWrongDirections([toSource("src/catalog/a.ts", text)])).toEqual([]);
  });
});

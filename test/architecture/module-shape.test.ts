import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { entrySources } from "./package-entries.ts";
import { findBadExports } from "./rules/module-shape.ts";
import { readSources, toSource } from "./source.ts";

const entries = new Set(entrySources.values());

/** The number of files in a folder that a reader takes in at once. */
const maxFiles = 24;

describe("the shape of modules", () => {
  it("only the package's entries re-export when src is read", () => {
    const sources = readSources("src");
    const paths = new Set(sources.map((source) => source.path));
    expect([...entries].filter((entry) => !paths.has(entry))).toEqual([]);
    expect(sources.flatMap((source) => findBadExports(source, entries))).toEqual([]);
  });

  it("no folder has more files than a reader takes in when src is read", () => {
    const counts = new Map<string, number>();
    for (const { path } of readSources("src")) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect(counts.size).toBeGreaterThan(30);
    expect([...counts].filter(([, count]) => count > maxFiles)).toEqual([]);
  });

  it.each([
    ["an export *", "src/index.ts", `export * from "./a.ts";`],
    ["a namespace export", "src/index.ts", `export * as a from "./a.ts";`],
    ["a default export", "src/a/a.ts", `export default 1;`],
    ["an inner re-export", "src/a/a.ts", `export { b } from "./b.ts";`],
    ["an inner re-export of a type", "src/a/a.ts", `export type { B } from "./b.ts";`],
    ["a re-export in two lines", "src/a/a.ts", `import { b } from "./b.ts";\nexport { b };`],
    ["the name of a barrel", "src/tags/index.ts", `const a = 1;`],
    ["code in an entry", "src/index.ts", `export const a = 1;`],
  ])("findBadExports() objects when a file has %s", (_what, path, text) => {
    expect(findBadExports(toSource(path, text), entries)).toHaveLength(1);
  });

  it("findBadExports() is content when an entry names what it re-exports and a file exports its own", () => {
    expect(findBadExports(toSource("src/index.ts", `export { a, type B } from "./a.ts";`), entries)).toEqual([]);
    expect(findBadExports(toSource("src/a/a.ts", `const a = 1;\nexport { a };`), entries)).toEqual([]);
    expect(findBadExports(toSource("src/a/a.ts", `export type { B } from "b";`), entries)).toEqual([]);
  });
});

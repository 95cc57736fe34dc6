import { describe, expect, it } from "vitest";
import { entrySources } from "./package-entries.ts";
import { findUndocumented } from "./rules/documented.ts";
import { readSources, toSource } from "./source.ts";

const sources = readSources("src");

const planted = (declared: string, entry = `export { a } from "./a.ts";`): string[] =>
  findUndocumented([toSource("src/index.ts", entry), toSource("src/a.ts", declared)], "src/index.ts");

describe("documentation", () => {
  it.each([...entrySources])("every export of %s has a TSDoc comment when its declaration is read", (_name, entry) => {
    expect(findUndocumented(sources, entry)).toEqual([]);
  });

  it("entrySources names the main entry when package.json is read", () => {
    expect(entrySources.get(".")).toBe("src/index.ts");
  });

  it.each([
    ["nothing above it", `export const a = 1;`],
    ["a plain comment above it", `/* a */\nexport const a = 1;`],
    ["a line comment above it", `// a\nexport const a = 1;`],
    ["another declaration in between", `/** b */\nexport const b = 1;\nexport const a = 1;`],
  ])("findUndocumented() objects when an export has %s", (_what, text) => {
    expect(planted(text)).toEqual([expect.stringContaining(" a")]);
  });

  it("findUndocumented() follows a renaming when the entry re-exports under another name", () => {
    const entry = `export { b as a } from "./a.ts";`;
    expect(planted(`/** What b is. */\nexport const b = 1;`, entry)).toEqual([]);
    expect(planted(`export const b = 1;`, entry)).toEqual(["src/a.ts:1 a"]);
  });

  it("findUndocumented() wants the comment where a package's type is handed on when there is one", () => {
    expect(planted(`export type { a } from "other";`)).toEqual(["src/a.ts:1 a"]);
    expect(planted(`/** What a is here. */\nexport type { a } from "other";`)).toEqual([]);
  });

  it("findUndocumented() is content when a type, a class or an overload is commented once", () => {
    expect(planted(`/** A. */\nexport interface a { x: 1 }`)).toEqual([]);
    expect(
      planted(`/** A. */\nexport function a(x: 1): 1;\nexport function a(x: 2): 2;\nexport function a(x: 1 | 2) {}`),
    ).toEqual([]);
  });
});

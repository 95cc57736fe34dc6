import { describe, expect, it } from "vitest";
import { findEscapes } from "./rules/casts.ts";
import { readSources, toSource } from "./source.ts";

describe("casts", () => {
  it("every cast gives its reason and nothing is any when src is read", () => {
    const sources = readSources("src");
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.flatMap(findEscapes)).toEqual([]);
  });

  it.each([
    ["a bare cast", `export const a = b as C;`],
    ["two steps", `export const a = b as unknown as C;`],
    ["a cast in a call", `f(\n  1,\n  b as C,\n);`],
    ["a cast to any", `// because\nexport const a = b as any;`],
    ["any in a type", `export type A = Record<string, any>;`],
    ["an exclamation mark", `export const a = b!;`],
    ["angle brackets", `export const a = <C>b;`],
    ["a reason two lines up", `// because\n\nexport const a = b as C;`],
    ["a reason for the neighbour", `// because\nconst a = b as C;\nconst d = b as C;`],
    ["a reason for the whole function", `// because\nexport function f(b: unknown) {\n  return b as C;\n}`],
    ["only a tool directive", `// oxlint-disable-next-line no-x\nexport const a = b as C;`],
  ])("findEscapes() objects when a file has %s", (_what, text) => {
    expect(findEscapes(toSource("src/a/a.ts", text))).toHaveLength(1);
  });

  it.each([
    ["as const", `export const a = [1] as const;`],
    ["a reason above", `// The compiler cannot follow the spread.\nexport const a = b as C;`],
    ["a reason above both steps", `// The compiler cannot follow the spread.\nreturn b as unknown as C;`],
    ["a reason above a statement of many lines", `// Because.\nconst a = f({\n  b,\n  c,\n}) as C;`],
    ["a reason above the argument", `f(\n  1,\n  // Because.\n  b as C,\n);`],
    ["a widening to unknown", `export const a = b as unknown;`],
    ["satisfies", `export const a = b satisfies C;`],
  ])("findEscapes() is content when a file has %s", (_what, text) => {
    const body = text.startsWith("return") || text.includes("\nreturn") ? `function f() {\n${text}\n}` : text;
    expect(findEscapes(toSource("src/a/a.ts", body))).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { findAnonymousErrors } from "./rules/thrown-errors.ts";
import { readSources, toSource } from "./source.ts";

describe("thrown errors", () => {
  it("every error has a code and a message of the house when src is read", () => {
    const sources = readSources("src");
    expect(sources.map((source) => source.path)).toContain("src/errors.ts");
    expect(sources.flatMap(findAnonymousErrors)).toEqual([]);
  });

  it.each([
    ["throws an Error", `throw new Error("x");`],
    ["throws a TypeError", `throw new TypeError("x");`],
    ["leaves out new", `throw Error("x");`],
    ["rejects with one", `Promise.reject(new RangeError("x"));`],
    ["ends a message with a full stop", `throw new SurfaceError("INTERNAL", "Doing a: b.");`],
    ["ends a template with a full stop", "throw new SurfaceError('INTERNAL', `Doing ${a}: b.`);"],
  ])("findAnonymousErrors() objects when a file %s", (_what, text) => {
    expect(findAnonymousErrors(toSource("src/a/a.ts", text))).toHaveLength(1);
  });

  it("findAnonymousErrors() is content when a file throws with a code or throws on", () => {
    const text = `try { f(); } catch (e) { throw e; }\nthrow new SurfaceError("INTERNAL", \`Doing a: "\${b}"\`);`;
    expect(findAnonymousErrors(toSource("src/a/a.ts", text))).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { findAssignedFunctions } from "./rules/assigned-functions.ts";
import { readSources, toSource } from "./source.ts";

describe("functions that are assigned to a property", () => {
  it("no file whose code runs for each request has one when src is read", () => {
    expect(readSources("src").flatMap(findAssignedFunctions)).toEqual([]);
  });

  it.each([
    ["an arrow to a field", `reply.onGone = () => {};`],
    ["an arrow to a private field", `class A { #a; b() { this.#a = async () => {}; } }`],
    ["an arrow to an element", `list[0] = (a) => a;`],
    ["a function where there is none", `reply.onGone ??= function () {};`],
  ])("findAssignedFunctions() objects when a file assigns %s", (_what, text) => {
    expect(findAssignedFunctions(toSource("src/http/a.ts", text))).toHaveLength(1);
  });

  it.each([
    ["names the function first", "src/http/a.ts", `const onGone = (): void => {}; reply.onGone = onGone;`],
    ["chooses between two", "src/http/a.ts", `reply.onGone = a ? () => {} : b;`],
    ["runs once", "src/cli/a.ts", `reply.onGone = () => {};`],
  ])("findAssignedFunctions() is content when a file %s", (_what, path, text) => {
    expect(findAssignedFunctions(toSource(path, text))).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { hasPart } from "./has-part.ts";

describe("hasPart()", () => {
  it("finds what is there, whatever else is", () => {
    expect(hasPart({ a: [{ b: 1, c: 2 }], d: 3 }, { a: [{ b: 1 }] })).toBe(true);
    expect(hasPart({ a: 1 }, {})).toBe(true);
  });

  it.each<[unknown, unknown]>([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: [1, 2] }, { a: [1] }],
    [{ a: { 0: 1 } }, { a: [1] }],
    [{}, { constructor: {} }],
    [undefined, {}],
  ])("misses what %j lacks of %j", (value, part) => {
    expect(hasPart(value, part)).toBe(false);
  });
});

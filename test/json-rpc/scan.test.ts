import { array, assert, constantFrom, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsDepth, fitsValues } from "../../src/json-rpc/scan.ts";
import { maxDepth, maxValues } from "../../src/links/transport/base-transport.ts";

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

/** A list of so many numbers. */
const listOf = (length: number): string => `[${"10,".repeat(length - 1)}10]`;

describe("fitsDepth()", () => {
  it("takes as many levels as are allowed, and no more", () => {
    expect(fitsDepth(nested(maxDepth), maxDepth)).toBe(true);
    expect(fitsDepth(nested(maxDepth + 1), maxDepth)).toBe(false);
    expect(fitsDepth('{"a":'.repeat(maxDepth + 1), maxDepth)).toBe(false);
  });

  it("counts levels and not brackets when there are many beside each other, or within texts", () => {
    expect(fitsDepth(`[${Array(1000).fill("{}").join()}]`, maxDepth)).toBe(true);
    expect(fitsDepth(JSON.stringify(["[".repeat(1000), '\\"[{'.repeat(1000)]), maxDepth)).toBe(true);
    expect(fitsDepth(`"${"[".repeat(1000)}\\\\"${nested(maxDepth + 1)}`, maxDepth)).toBe(false);
  });

  it("takes every value of few levels, whatever its texts hold", () => {
    const texts = array(constantFrom("[", "{", '"', "\\", "]", "}", "a"), { maxLength: 600 });
    const check = (parts: readonly string[]): void => {
      expect(fitsDepth(JSON.stringify({ [parts.join("")]: [parts.join("")] }), maxDepth)).toBe(true);
    };
    assert(property(texts, check));
  });

  it("answers soon when a text is long and hostile", () => {
    expect(fitsDepth("[".repeat(1_000_000), maxDepth)).toBe(false);
    expect(fitsDepth(`${nested(maxDepth)}"${"\\".repeat(1_000_000)}`, maxDepth)).toBe(true);
  });
});

describe("fitsValues()", () => {
  it("takes as many values as are allowed, and no more", () => {
    expect(fitsValues(listOf(maxValues), maxValues)).toBe(true);
    expect(fitsValues(listOf(maxValues + 1), maxValues)).toBe(false);
    expect(fitsValues("[".repeat(maxValues + 1), maxValues)).toBe(false);
    expect(fitsValues(`[${"{},".repeat(maxValues / 2)}{}]`, maxValues)).toBe(false);
  });

  it("counts nothing within strings, wherever they end", () => {
    const full = ",[{".repeat(maxValues);
    expect(fitsValues(JSON.stringify([full, `\\"${full}\\`, full]), maxValues)).toBe(true);
    expect(fitsValues(`["\\\\",${"[".repeat(maxValues)}`, maxValues)).toBe(false);
  });

  it("takes every value when it is small beside a long string", () => {
    const long = "x".repeat(maxValues);
    const check = (values: readonly unknown[]): void => {
      expect(fitsValues(JSON.stringify([long, values]), maxValues)).toBe(true);
    };
    assert(property(array(jsonValue()), check), { numRuns: 30 });
  });
});

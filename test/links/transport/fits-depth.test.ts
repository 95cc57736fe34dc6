import { array, assert, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsDepth, maxDepth } from "../../../src/links/transport/fits-depth.ts";

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

describe("fitsDepth()", () => {
  it("takes as many levels as are allowed, and no more", () => {
    expect(fitsDepth(nested(maxDepth))).toBe(true);
    expect(fitsDepth(nested(maxDepth + 1))).toBe(false);
    expect(fitsDepth('{"a":'.repeat(maxDepth + 1))).toBe(false);
  });

  it("counts levels and not brackets when there are many beside each other, or within texts", () => {
    expect(fitsDepth(`[${Array(1000).fill("{}").join()}]`)).toBe(true);
    expect(fitsDepth(JSON.stringify(["[".repeat(1000), '\\"[{'.repeat(1000)]))).toBe(true);
    expect(fitsDepth(`"${"[".repeat(1000)}\\\\"${nested(maxDepth + 1)}`)).toBe(false);
  });

  it("takes every value of few levels, whatever its texts hold", () => {
    const texts = array(constantFrom("[", "{", '"', "\\", "]", "}", "a"), { maxLength: 600 });
    const check = (parts: readonly string[]): void => {
      expect(fitsDepth(JSON.stringify({ [parts.join("")]: [parts.join("")] }))).toBe(true);
    };
    assert(property(texts, check));
  });

  it("answers soon when a text is long and hostile", () => {
    expect(fitsDepth("[".repeat(1_000_000))).toBe(false);
    expect(fitsDepth(`${nested(maxDepth)}"${"\\".repeat(1_000_000)}`)).toBe(true);
  });
});

import { array, assert, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsValues, maxValues } from "../../../src/links/transport/fits-values.ts";

/** A list of so many numbers. */
const listOf = (length: number): string => `[${"10,".repeat(length - 1)}10]`;

describe("fitsValues()", () => {
  it("takes as many values as are allowed, and no more", () => {
    expect(fitsValues(listOf(maxValues))).toBe(true);
    expect(fitsValues(listOf(maxValues + 1))).toBe(false);
    expect(fitsValues("[".repeat(maxValues + 1))).toBe(false);
    expect(fitsValues(`[${"{},".repeat(maxValues / 2)}{}]`)).toBe(false);
  });

  it("counts nothing within strings, wherever they end", () => {
    const full = ",[{".repeat(maxValues);
    expect(fitsValues(JSON.stringify([full, `\\"${full}\\`, full]))).toBe(true);
    expect(fitsValues(`["\\\\",${"[".repeat(maxValues)}`)).toBe(false);
  });

  it("takes every value when it is small beside a long string", () => {
    const long = "x".repeat(maxValues);
    const check = (values: readonly unknown[]): void => {
      expect(fitsValues(JSON.stringify([long, values]))).toBe(true);
    };
    assert(property(array(jsonValue()), check), { numRuns: 30 });
  });
});

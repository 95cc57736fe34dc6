import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureFrame } from "../../src/json-rpc/scan.ts";

const limits = (maxDepth: number, maxElements: number) => ({
  maxDepth,
  maxElements,
});

/** The same two numbers, from the parsed value. */
function measure(value: unknown): { depth: number; elements: number } {
  if (typeof value !== "object" || value === null) return { depth: 0, elements: 0 };
  const inner = Object.values(value).map(measure);
  return {
    depth: 1 + Math.max(0, ...inner.map((part) => part.depth)),
    elements: inner.reduce((sum, part) => sum + 1 + part.elements, 0),
  };
}

/** JSON with a lot of what confuses a scanner: brackets, commas, quotes and backslashes inside strings. */
const unit = fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", " ", "a", "é", "\n", "😀");
const nasty = fc.string({ unit, maxLength: 60 });
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.integer(), nasty),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(nasty, tie("value"), { maxKeys: 5 }),
  ),
}));

describe("measureFrame()", () => {
  it("agrees with the parsed value when the JSON is any, spaced or not", () => {
    fc.assert(
      fc.property(json, fc.constantFrom("", " ", "\t", "\r\n"), (value, space) => {
        const text = JSON.stringify([value], null, space);
        const { depth, elements } = measure([value]);
        expect(measureFrame(text, limits(depth, elements))).toBe("ok");
        expect(measureFrame(text, limits(depth - 1, Infinity))).toBe("too-deep");
        expect(measureFrame(text, limits(Infinity, elements - 1))).toBe("too-many-elements");
      }),
      { numRuns: 1_000 },
    );
  });

  it("agrees with the parsed value when the text is padded past the quick checks", () => {
    fc.assert(
      fc.property(json, nasty, (value, filler) => {
        const { depth, elements } = measure([value, ""]);
        const text = JSON.stringify([value, filler.repeat(50)]);
        expect(measureFrame(text, limits(depth, elements))).toBe("ok");
        expect(measureFrame(text, limits(depth, elements - 1))).toBe("too-many-elements");
      }),
    );
  });
});

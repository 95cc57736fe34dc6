import { assert, integer, oneof, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText } from "../../src/mcp/large-values.ts";

function sizeOf(part: string): number {
  return Buffer.byteLength(JSON.stringify(part));
}

describe("cutText()", () => {
  it("returns one part for a text that fits, and none for an empty text", () => {
    expect(cutText("ab", 100)).toEqual(["ab"]);
    expect(cutText("", 100)).toEqual([]);
  });

  it("does not separate surrogate pairs", () => {
    const text = "\u{1f3fa}".repeat(1000);
    const parts = cutText(text, 101);
    expect(parts.join("")).toBe(text);
    for (const part of parts) expect(Buffer.from(part).toString()).toBe(part);
  });

  it.each(['"', "\u0000", "ü", "a"])(
    "fills its parts when the text is all %j, and passes the bound with none",
    (each) => {
      const parts = cutText(each.repeat(10_000), 1000);
      expect(Math.max(...parts.map(sizeOf))).toBeLessThanOrEqual(1000);
      expect(Math.min(...parts.slice(0, -1).map(sizeOf))).toBeGreaterThan(800);
    },
  );

  it("returns parts whose concatenation is the text", () => {
    const texts = oneof(string({ unit: "binary", maxLength: 300 }), string({ unit: "grapheme", maxLength: 300 }));
    assert(
      property(texts, integer({ min: 16, max: 200 }), (text, maxBytes) => {
        const parts = cutText(text, maxBytes);
        expect(parts.join("")).toBe(text);
        for (const part of parts) expect(sizeOf(part)).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toWellFormedJson, writeJson } from "../../src/mcp/protocol.ts";

describe("toWellFormedJson()", () => {
  it.each([
    [String.raw`"a"`, String.raw`"a"`],
    [String.raw`"\ud83d"`, String.raw`"\ufffd"`],
    [String.raw`"\ude00x"`, String.raw`"\ufffdx"`],
    [String.raw`"\ud83d\ud83d\ude00\ude00"`, String.raw`"\ufffd\ud83d\ude00\ufffd"`],
    [String.raw`"\ud83d\n\ude00"`, String.raw`"\ufffd\n\ufffd"`],
    [String.raw`"\\ud83d"`, String.raw`"\\ud83d"`],
    [String.raw`"\\\ud83d"`, String.raw`"\\\ufffd"`],
    [String.raw`"C:\\udder \ud7ff \ue000"`, String.raw`"C:\\udder \ud7ff \ue000"`],
    [String.raw`{"\udfff":"\""}`, String.raw`{"\ufffd":"\""}`],
  ])("turns %s into %s", (json, expected) => {
    expect(toWellFormedJson(json)).toBe(expected);
  });
});

describe("writeJson()", () => {
  it("writes any text as its well-formed form when it holds lone surrogates", () => {
    const unit = fc.constantFrom("\\", "u", "d", "8", "\ud83d", "\ude00", "\udfff", '"', "\n");
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = units.join("");
        // TextEncoder replaces every lone surrogate.
        const wellFormed = new TextDecoder().decode(new TextEncoder().encode(text));
        expect(JSON.parse(writeJson({ text }))).toEqual({ text: wellFormed });
      }),
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toDotted, toStatePath, toId, toIdSegment } from "../../src/from/names.ts";

/** What was written -> the key. */
function decode(segment: string): string {
  if (segment === "_x00_") return "";
  return segment.replaceAll(/_x([0-9a-f]+)_/g, (_all, code: string) => String.fromCodePoint(parseInt(code, 16)));
}

describe("names of actions, states and links", () => {
  it.each([
    ["heal", "heal"],
    ["get_state2", "get_state2"],
    ["pos_x", "pos_x"],
    ["a.b", "a_x2e_b"],
    ["a-b", "a-b"],
    ["a b", "a_x20_b"],
    ["", "_x00_"],
    ["__proto__", "__proto__"],
    ["é", "_xe9_"],
    ["max_x2", "max_x5f_x2"],
    ["_x00_", "_x5f_x00_"],
    ["\u{1f600}", "_x1f600_"],
  ])("A19 a key is a segment of letters, digits, _ and - when it is %j", (key, segment) => {
    expect(toIdSegment(key)).toBe(segment);
  });

  it("A19 have different segments for different keys", () => {
    const key = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom("_", "x", "2", "e", "0", ".", "-", "X", "5", "f") }),
    );
    fc.assert(
      fc.property(key, (text) => {
        expect(toIdSegment(text)).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decode(toIdSegment(text))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("A19 keep keys of links apart from keys of actions with dots", () => {
    expect(toId(["a.b", "c"])).toBe("a_x2e_b.c");
    expect(toId(["a", "b.c"])).toBe("a.b_x2e_c");
    expect(toDotted(["a.b", "c"])).toBe("a%2Eb.c");
    expect(toDotted(["a%2Eb", "c"])).toBe("a%252Eb.c");
  });

  it("give a state a URI path if its key can be written in one", () => {
    expect(toStatePath([], "hp")).toBe("state/hp");
    expect(toStatePath(["cat", "state"], "a/b c!é")).toBe("cat/state/state/a%2Fb%20c%21%C3%A9");
  });

  it.each(["", ".", "..", "\ud800"])("a state is refused a path when its key is %j", (key) => {
    expect(() => toStatePath([], key)).toThrow("Cannot name a state");
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsGlob, isGlob, toMatcher } from "../../src/catalog/glob.ts";

/** The meaning of a pattern, word for word and as slow as that is. */
function fitsNaively(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  const [first, rest] = [pattern.slice(0, 1), pattern.slice(1)];
  if (first === "*") return fitsNaively(rest, text) || (text !== "" && fitsNaively(pattern, text.slice(1)));
  return text !== "" && (first === "?" || first === text.slice(0, 1)) && fitsNaively(rest, text.slice(1));
}

const few = (letters: string): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...letters.split("")), { maxLength: 9 }).map((parts) => parts.join(""));

describe("patterns", () => {
  it.each([
    ["node_rerun", "node_rerun", true],
    ["node_rerun", "node_reruns", false],
    ["Node_rerun", "node_rerun", false],
    ["node_*", "node_", true],
    ["*", "", true],
    ["*_log", "node_log", true],
    ["node_?og", "node_log", true],
    ["node_?og", "node_og", false],
    ["[n]ode", "node", false],
    ["a.c", "abc", false],
    ["a*b*c", "a_b_b_d_c", true],
    ["**", "anything", true],
  ])("fitsGlob() reads %j against %j as %j when it is asked", (pattern, text, expected) => {
    expect(fitsGlob(pattern, text)).toBe(expected);
  });

  it("fitsGlob() agrees with the meaning word for word when patterns and texts are drawn", () => {
    fc.assert(
      fc.property(few("ab*?"), few("ab*?"), (pattern, text) => {
        expect(fitsGlob(pattern, text)).toBe(fitsNaively(pattern, text));
      }),
      { numRuns: 5000 },
    );
  });

  it("a matcher answers at once when a pattern is ten thousand stars, or made to be gone back over", () => {
    const stars = toMatcher(["*".repeat(10_000)]);
    expect(stars({ id: "a".repeat(10_000) })).toBeDefined();
    expect(fitsGlob("*a".repeat(5000), "a".repeat(4999))).toBe(false);
    expect(fitsGlob(`${"*a".repeat(128)}b`, "a".repeat(10_000))).toBe(false);
  });

  it("isGlob() tells a pattern of many from a name when it is asked", () => {
    expect(["a*", "a?", "a", "mcp__ci__a"].map(isGlob)).toEqual([true, true, false, false]);
  });

  it("a matcher fits an id and a name on the wire when either is written", () => {
    const entry = { id: "node.rerun", name: "node_rerun" };
    for (const pattern of ["node.rerun", "node_rerun", "node.*", "node_*"]) {
      expect(toMatcher([pattern])(entry)).toBe(pattern);
    }
    expect(toMatcher(["node"])(entry)).toBeUndefined();
  });

  it.each(["mcp__ci__node_rerun", "mcp__ci__.node_rerun", "ci(node_rerun)", "mcp__ci__node_*", "ci(node.*)"])(
    "a matcher reads %j as a tool's name when the server is called as it says",
    (pattern) => {
      const entry = { id: "node.rerun", name: "node_rerun" };
      expect(toMatcher([pattern], "ci")(entry)).toBe(pattern);
      expect(toMatcher([pattern], "other")(entry)).toBeUndefined();
      expect(toMatcher([pattern])(entry)).toBeUndefined();
    },
  );

  it("a matcher of no patterns fits nothing when it is asked", () => {
    expect(toMatcher([])({ id: "" })).toBeUndefined();
  });
});

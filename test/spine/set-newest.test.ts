import { describe, expect, it } from "vitest";
import { setNewest } from "../../src/spine/collections.ts";

describe("setNewest()", () => {
  it("keeps the newest entries of a map, and returns the key that it deleted", () => {
    const map = new Map([
      ["a", 1],
      ["b", 2],
    ]);
    expect(setNewest(map, ["a", 3], 2)).toBeUndefined();
    expect([...map]).toEqual([
      ["b", 2],
      ["a", 3],
    ]);
    expect(setNewest(map, ["c", 4], 2)).toBe("b");
    expect([...map.keys()]).toEqual(["a", "c"]);
  });
});

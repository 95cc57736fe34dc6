import { describe, expect, it } from "vitest";
import { reachedFrom, sourcesOf } from "./built-package.ts";

/** Each entry for an existing API, and the sources that belong to it alone. */
const entries = {
  trpc: /^src\/(?:from\/trpc\/|builder\/mcp-trpc)/,
  orpc: /^src\/(?:from\/orpc\/|builder\/mcp-orpc)/,
  openapi: /^src\/from\/openapi\//,
};
const names = ["trpc", "orpc", "openapi"] as const;

/** Returns the sources that an entry of the built package loads, at once or later. */
function loadedBy(entry: string): readonly string[] {
  return sourcesOf(reachedFrom([`dist/${entry}`]));
}

describe("the entries for an existing API", () => {
  it.each(names)("surface-mcp/from/%s loads its own sources, and none of the others", (name) => {
    const loaded = loadedBy(`from/${name}/index.js`);
    for (const other of names) {
      const own = loaded.filter((path) => entries[other].test(path));
      expect(own.length > 0, `${other}: ${own.join(", ")}`).toBe(other === name);
    }
  });

  it("are not loaded by the main entry", () => {
    const loaded = loadedBy("index.js");
    expect(loaded.length).toBeGreaterThan(100);
    expect(
      loaded.filter((path) => /^src\/(?:from\/(?:trpc|orpc|openapi|rpc)\/|builder\/mcp-[to]rpc)/.test(path)),
    ).toEqual([]);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readViewRules } from "../../src/views/read-view-rules.ts";
import { root } from "./markdown-snippets.ts";

/** The files of rules that the guide shows, in order, parsed. */
function shownFiles(): readonly unknown[] {
  const guide = readFileSync(join(root, "docs", "guide", "view-rules.md"), "utf8");
  return [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, json = ""]): unknown => JSON.parse(json));
}

describe("the guide to rules of views", () => {
  test("shows files in every form that is read, and nothing in them that is refused", () => {
    const packets = shownFiles().map((file) => readViewRules(file).map(({ id }) => id));
    expect(packets).toEqual([["pipeline"], ["everybody", "web"], ["views"], ["views"]]);
  });

  test("names the schema of the package where the package has it", () => {
    const guide = readFileSync(join(root, "docs", "guide", "view-rules.md"), "utf8");
    const named = [...guide.matchAll(/"\$schema": "\.\/node_modules\/surface-mcp\/([^"]+)"/g)].map(
      ([, path = ""]) => path,
    );
    expect(named.length).toBeGreaterThan(0);
    for (const path of named) expect(JSON.parse(readFileSync(join(root, path), "utf8"))).toHaveProperty("$defs");
  });
});

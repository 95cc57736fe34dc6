import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listFiles, root } from "./source.ts";

const hook = /^(?:before|after)(?:Each|All)\(/m;

describe("modules that test files share", () => {
  // Files that run in one process load such a module once: a hook of it belongs to the first file alone.
  it("register no hook when they are loaded", () => {
    const shared = listFiles("test", ".ts").filter((path) => !/\.test\.ts$|^test\/setup\//.test(path));
    const found = shared.filter((path) => hook.test(readFileSync(join(root, path), "utf8")));
    expect(shared.length).toBeGreaterThan(100);
    expect(found).toEqual([]);
  });
});

describe("random tests that draw more cases in the deep run", () => {
  it("are in a file or folder of the script deep:draws", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const filters = scripts["deep:draws"].split(" ").filter((part: string) => part.startsWith("test/"));
    const drawing = listFiles("test", ".test.ts").filter((path) =>
      /\bdraws\(/.test(readFileSync(join(root, path), "utf8")),
    );
    expect(drawing.length).toBeGreaterThan(5);
    expect(drawing.filter((path) => !filters.some((filter: string) => path.startsWith(filter)))).toEqual([]);
  });
});

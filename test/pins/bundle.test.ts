import { describe, expect, it } from "vitest";
import { bundle } from "./built-package.ts";

/** Bytes, minified and with packages left outside: what was measured, and a tenth. A larger number is a decision. */
const budget = { everything: 119_600, surfaceOnly: 2_600 };

describe("the bundle", () => {
  it("everything the main entry exports stays within its bytes when it is bundled", async () => {
    const { bytes, files } = await bundle(`export * from "surface-mcp";`);
    expect(files.length).toBeGreaterThan(40);
    expect(bytes).toBeLessThanOrEqual(budget.everything);
  });

  it("a module that only describes a surface brings neither the SDK nor a server when it is bundled", async () => {
    const code = `import { cell, defineSurface } from "surface-mcp"; console.log(defineSurface("a", { b: cell({}) }));`;
    const { bytes, files, imports } = await bundle(code);
    expect(imports.filter((name) => !name.startsWith("node:"))).toEqual([]);
    const folders = [...new Set(files.map((path) => path.split("/")[1]))];
    expect(folders.filter((folder) => !["errors.js", "tags", "surface", "schema"].includes(folder ?? ""))).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(budget.surfaceOnly);
  });
});

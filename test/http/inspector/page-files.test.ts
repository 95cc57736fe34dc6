import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPageFiles } from "../../../src/http/inspector/page-files.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "page-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("readPageFiles()", () => {
  it("throws UNAVAILABLE, and says what to do, for a build without the page", async () => {
    await writeFile(join(folder, "index.html"), "<!doctype html>");
    await writeFile(join(folder, "page.js"), "export {};");
    await expect(readPageFiles(() => folder)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message:
        'Cannot serve the live page: the folder "dist/page" of surface-mcp is missing or incomplete; install the package as it was published, and do not bundle it',
    });
  });

  it("reads the three files with their types, and has an icon", async () => {
    await writeFile(join(folder, "page.css"), "/* ü */");
    const files = await readPageFiles(() => folder);
    expect([...files.keys()]).toEqual(["", "page.js", "page.css", "icon.svg"]);
    expect(files.get("page.css")).toEqual({
      status: 200,
      headers: { "content-type": "text/css; charset=utf-8" },
      body: "/* ü */",
    });
  });
});

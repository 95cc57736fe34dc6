import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfigFile, replaceConfigFile } from "../../src/cli/config-file.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "surface-mcp-file-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("a file of configuration", () => {
  it("stays as somebody else has left it when that was after it was read", async () => {
    const path = join(folder, "a.json");
    await writeFile(path, "{}");
    const file = await readConfigFile(path);
    await writeFile(path, `{"theirs":1}`);
    await expect(replaceConfigFile(file, `{"ours":1}`)).rejects.toThrow("somebody else has changed it meanwhile");
    expect(await readFile(path, "utf8")).toBe(`{"theirs":1}`);
    expect(await readdir(folder)).toEqual(["a.json"]);
  });

  it("is not replaced when somebody else has made it meanwhile", async () => {
    const path = join(folder, "deep", "a.json");
    const file = await readConfigFile(path);
    await replaceConfigFile(file, "first");
    await expect(replaceConfigFile(file, "second")).rejects.toThrow("meanwhile");
    expect(await readFile(path, "utf8")).toBe("first");
  });
});

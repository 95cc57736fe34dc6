import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { changeConfigFile, readConfigFile, replaceConfigFile } from "../../../src/cli/install/config-file.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "surface-mcp-file-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("a configuration file", () => {
  it("keeps another program's change that was made after it was read", async () => {
    const path = join(folder, "a.json");
    await writeFile(path, "{}");
    const file = await readConfigFile(path);
    await writeFile(path, `{"theirs":1}`);
    await expect(replaceConfigFile(file, `{"ours":1}`)).rejects.toThrow("another process has changed it meanwhile");
    expect(await readFile(path, "utf8")).toBe(`{"theirs":1}`);
    expect(await readdir(folder)).toEqual(["a.json"]);
  });

  it("is not replaced when another program created it meanwhile", async () => {
    const path = join(folder, "deep", "a.json");
    const file = await readConfigFile(path);
    await replaceConfigFile(file, "first");
    await expect(replaceConfigFile(file, "second")).rejects.toThrow("meanwhile");
    expect(await readFile(path, "utf8")).toBe("first");
  });

  it("has the additions of all concurrent writers", async () => {
    const path = join(folder, "deep", "a.json");
    const names = Array.from({ length: 10 }, (_none, index) => `${index};`);
    await Promise.all(names.map((name) => changeConfigFile(path, (text) => text + name)));
    const text = await readFile(path, "utf8");
    expect(text.split(";").toSorted()).toEqual([...names.map((name) => name.slice(0, -1)), ""].toSorted());
    expect(await readdir(join(folder, "deep"))).toEqual(["a.json"]);
  });

  it("is changed despite the lock of a process that is gone, or that has held it for too long", async () => {
    const path = join(folder, "a.json");
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    await writeFile(`${path}.lock`, `${hostname()} ${pid} x`);
    await Promise.all(["a", "b", "c"].map((name) => changeConfigFile(path, (text) => text + name)));
    await writeFile(`${path}.lock`, `${hostname()} ${process.pid} x`);
    await utimes(`${path}.lock`, 1, 1);
    await writeFile(`${path}.lock.turn`, "");
    await utimes(`${path}.lock.turn`, 1, 1);
    await Promise.all(["d", "e"].map((name) => changeConfigFile(path, (text) => text + name)));
    expect((await readFile(path, "utf8")).split("").toSorted().join("")).toBe("abcde");
    expect(await readdir(folder)).toEqual(["a.json"]);
  });

  it("stays as it is, and so does the lock, when another process holds the lock for long", async () => {
    const path = join(folder, "a.json");
    await writeFile(`${path}.lock`, "elsewhere 1 x");
    const changed = changeConfigFile(path, () => "ours");
    await expect(changed).rejects.toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining(`"${path}.lock"`),
    });
    expect(await readdir(folder)).toEqual(["a.json.lock"]);
  });

  it("has no lock beside it when its text cannot be changed", async () => {
    const path = join(folder, "a.json");
    await writeFile(path, "{}");
    const refuse = (): never => {
      throw new Error("not today");
    };
    await expect(changeConfigFile(path, refuse)).rejects.toThrow("not today");
    expect(await readdir(folder)).toEqual(["a.json"]);
  });

  it("is named in the error when it is a folder", async () => {
    const path = join(folder, "a.json");
    await mkdir(path);
    await expect(changeConfigFile(path, () => "")).rejects.toThrow(`Cannot read "${path}": it is not a regular file`);
  });
});

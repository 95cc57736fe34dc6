import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeNewFiles } from "../../src/cli/init.ts";
import { manifest as own } from "../architecture/package-entries.ts";
import { locked } from "../pins/production-tree.ts";
import { bench, type Bench } from "./support.ts";

const paths = [
  ".gitignore",
  "README.md",
  "package.json",
  "src/app.ts",
  "src/server.ts",
  "src/surface.ts",
  "test/app.test.ts",
  "tsconfig.json",
];

/** A working folder that exists. */
async function workplace(): Promise<Bench> {
  const at = await bench();
  await mkdir(at.cwd, { recursive: true });
  return at;
}

async function listed(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((one) => !one.isDirectory()).map(({ name }) => name);
}

async function manifestOf(at: Bench, folder: string): Promise<Record<"dependencies" | "devDependencies", object>> {
  return JSON.parse(await readFile(join(at.cwd, folder, "package.json"), "utf8"));
}

describe("init", () => {
  it("writes the files of a template, and prints them and the next commands", async () => {
    const at = await workplace();
    const folder = join(at.cwd, "desk");
    expect(await at.run("init", "desk")).toEqual({
      code: 0,
      out: `wrote 8 files to "${folder}":
${paths.map((path) => `  ${path}\n`).join("")}
next:
  cd desk && npm install
  npm start
`,
      err: "",
    });
    for (const path of paths) expect((await lstat(join(folder, path))).isFile()).toBe(true);
    expect(await readFile(join(folder, "src/server.ts"), "utf8")).toContain("app.serve()");
    expect(await listed(folder)).toHaveLength(paths.length);
  });

  it("writes into the working folder beside other files, and quotes a folder with a space", async () => {
    const at = await workplace();
    await writeFile(join(at.cwd, "LICENSE"), "mine");
    const { out } = await at.run("init");
    expect(out).toContain("next:\n  npm install\n  npm start\n");
    expect((await at.run("init", "my desk")).out).toContain(`  cd "my desk" && npm install\n`);
  });

  it("writes the Express template", async () => {
    const at = await workplace();
    expect((await at.run("init", "web", "--template", "express")).out).toContain("wrote 8 files");
    expect(await readFile(join(at.cwd, "web/src/server.ts"), "utf8")).toContain("express()");
  });

  it.each([["stdio"], ["express"]])("names only versions of the lockfile in the template %s", async (template) => {
    const at = await workplace();
    await at.run("init", "desk", "--template", template);
    const { dependencies, devDependencies } = await manifestOf(at, "desk");
    const { "surface-mcp": self, ...others } = { ...dependencies, ...devDependencies } as Record<string, string>;
    expect(self).toBe(`^${own.version}`);
    const tested = Object.keys(others).map((name) => [name, locked[`node_modules/${name}`]?.version]);
    expect(others).toEqual(Object.fromEntries(tested));
  });

  it.each([
    ["./pack/surface.tgz", (cwd: string) => `file:${join(cwd, "pack/surface.tgz")}`],
    ["surface.tgz", (cwd: string) => `file:${join(cwd, "surface.tgz")}`],
    ["/srv/surface.tgz", () => "file:/srv/surface.tgz"],
    ["0.1.0-rc.1", () => "0.1.0-rc.1"],
    ["https://example.test/surface.tgz", () => "https://example.test/surface.tgz"],
  ])("depends on the package that --package %s names", async (spec, expected) => {
    const at = await workplace();
    await at.run("init", "desk", "--package", spec);
    expect((await manifestOf(at, "desk")).dependencies).toMatchObject({ "surface-mcp": expected(at.cwd) });
  });

  it("writes nothing when files exist, and names them", async () => {
    const at = await workplace();
    await mkdir(join(at.cwd, "src"));
    await writeFile(join(at.cwd, "src/app.ts"), "mine");
    // A link counts as a file, also one that leads nowhere.
    await symlink(join(at.home, "nowhere"), join(at.cwd, "tsconfig.json"));
    const ran = await at.run("init", ".");
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain("these files exist: src/app.ts, tsconfig.json; name an empty folder\n");
    expect(await listed(at.cwd)).toEqual(expect.arrayContaining(["app.ts", "tsconfig.json"]));
    expect(await listed(at.cwd)).toHaveLength(2);
    expect(await readFile(join(at.cwd, "src/app.ts"), "utf8")).toBe("mine");
  });

  it.each([
    ["a folder outside", "outside", "leads out of the project"],
    ["nothing", "nowhere", "leads nowhere"],
  ])("writes nothing when a folder of the project is a link to %s", async (_what, leadsTo, message) => {
    const at = await workplace();
    await mkdir(join(at.home, "outside"));
    await symlink(join(at.home, leadsTo), join(at.cwd, "src"));
    const ran = await at.run("init");
    expect(ran).toMatchObject({ code: 1, out: "", err: expect.stringContaining(message) });
    expect(await listed(at.cwd)).toEqual(["src"]);
    expect(await listed(join(at.home, "outside"))).toEqual([]);
  });

  it("writes nothing when a folder of the project is a file", async () => {
    const at = await workplace();
    await writeFile(join(at.cwd, "src"), "mine");
    expect(await at.run("init")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("src") });
    expect(await listed(at.cwd)).toEqual(["src"]);
  });

  it("removes what it wrote when writing fails", async () => {
    const at = await workplace();
    // The second file needs a folder where the first one is.
    const files = new Map([
      ["src", "a file"],
      ["src/app.ts", "below it"],
    ]);
    await expect(writeNewFiles(at.cwd, files)).rejects.toThrow("EEXIST");
    expect(await listed(at.cwd)).toEqual([]);
  });

  it("follows the link when the folder itself is one", async () => {
    const at = await workplace();
    await mkdir(join(at.home, "elsewhere"));
    await symlink(join(at.home, "elsewhere"), join(at.cwd, "desk"));
    expect(await at.run("init", "desk")).toMatchObject({ code: 0 });
    expect(await listed(join(at.home, "elsewhere"))).toHaveLength(paths.length);
  });

  it.each([
    ["an unknown template", ["--template", "koa"], `"--template" must be stdio or express, is "koa"`],
    ["two folders", ["a", "b"], "name one folder, not 2"],
    ["an empty folder name", [""], "the folder must not be empty"],
    ["an empty package", ["--package", ""], `"--package" must not be empty`],
    ["an unknown option", ["--force"], "--force"],
  ])("answers %s with code 2, and writes nothing", async (_what, args, message) => {
    const at = await workplace();
    const ran = await at.run("init", ...args);
    expect(ran).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
    expect(ran.err).toContain(`see "surface-mcp --help"`);
    expect(await listed(at.cwd)).toEqual([]);
  });
});

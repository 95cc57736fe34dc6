import { mkdir, open, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { toLockfileText } from "../../src/lock/lockfile.ts";
import { exposureOf } from "../lock/support.ts";
import { bench, type Bench } from "./support.ts";

/** An app as authors write one. */
const real = fileURLToPath(new URL("fixtures/app.mjs", import.meta.url));
/** An app with a page and a skill. */
const shown = fileURLToPath(new URL("fixtures/shown-app.mjs", import.meta.url));
const lockfile = "exposure.lock.json";

async function folder(more: Parameters<typeof bench>[0] = {}): Promise<Bench> {
  const at = await bench(more);
  await mkdir(at.cwd, { recursive: true });
  return at;
}

const isApp = `{ [Symbol.for("surface-mcp.definition")]: {} }`;

describe("lock and check", () => {
  it("writes the same file each time, which the app then fits", async () => {
    const at = await folder();
    expect(await at.run("lock", real)).toEqual({
      code: 0,
      out: `wrote ${lockfile}: 3 tools (1 may change something), 1 resources, 0 templates, 0 prompts\n`,
      err: "",
    });
    const first = await readFile(join(at.cwd, lockfile), "utf8");
    expect(await at.run("check", real)).toEqual({ code: 0, out: `${lockfile} is up to date\n`, err: "" });
    await at.run("lock", real, "--out", "other.json");
    expect(await readFile(join(at.cwd, "other.json"), "utf8")).toBe(first);
    expect(await at.run("check", real, "--base", "other.json")).toMatchObject({ code: 0 });
  });

  it("exits with 1, writes the differences, and leaves the file alone when the app differs", async () => {
    const text = toLockfileText(exposureOf({ surface: "notes" }));
    const at = await folder({ readInput: async () => text });
    await writeFile(join(at.cwd, lockfile), text);
    const ran = await at.run("check", real);
    expect(ran).toMatchObject({ code: 1, err: "" });
    expect(ran.out).toContain('tool "note_add": added');
    expect(await readFile(join(at.cwd, lockfile), "utf8")).toBe(text);
    const piped = await at.run("check", real, "--base", "-", "--format", "json");
    expect(piped).toMatchObject({ code: 1, err: "" });
    expect(JSON.parse(piped.out)).toMatchObject({ same: false });
  });

  it.each<[what: string, put: (path: string) => Promise<unknown>, problem: string]>([
    ["is missing", async () => {}, `it does not exist; run "surface-mcp lock" and commit the file`],
    ["is a folder", (path) => mkdir(path), "it is a folder"],
    ["is a symbolic link", (path) => symlink("/etc/hostname", path), "it is a symbolic link"],
    ["leads nowhere", (path) => symlink("nowhere", path), "it is a symbolic link"],
    ["is not JSON", (path) => writeFile(path, "x"), "it is not JSON"],
    [
      "has 100 MB",
      async (path) => {
        const handle = await open(path, "w");
        await handle.truncate(100_000_000);
        await handle.close();
      },
      "it is larger than 33554432 bytes",
    ],
  ])("exits with 2 and a sentence when the lockfile %s", async (_what, put, problem) => {
    const at = await folder();
    await put(join(at.cwd, lockfile));
    const ran = await at.run("check", real);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(problem);
  });

  it("replaces no folder and no symbolic link", async () => {
    const at = await folder();
    await mkdir(join(at.cwd, "folder"));
    await writeFile(join(at.cwd, "target"), "mine");
    await symlink("target", join(at.cwd, "link"));
    expect(await at.run("lock", real, "--out", "folder")).toMatchObject({ code: 2, out: "" });
    expect(await at.run("lock", real, "--out", "link")).toMatchObject({ code: 2, out: "" });
    expect(await readFile(join(at.cwd, "target"), "utf8")).toBe("mine");
  });

  it.each<[what: string, text: string, problem: string]>([
    ["throws", `throw new Error("of my own\\u001B[31m")`, "of my own\\u{1b}[31m"],
    ["exports no app", `export const app = 1`, "it must export an app"],
    ["exports an app by another name", `export const face = ${isApp}`, `"--export" names another export: face`],
    ["exports two apps", `export const app = ${isApp}; export default ${isApp}`, "are different apps"],
    ["hangs", `await new Promise(() => {}); export const app = 1`, "it has not loaded after 0.2 s"],
    [
      "needs a connection",
      `import { connect } from "node:net"; import { once } from "node:events"; await once(connect(1, "127.0.0.1"), "connect");`,
      "it needs a connection (connect ECONNREFUSED",
    ],
    ["exports an app that is not linked", `export const app = ${isApp}`, "the app has no link"],
  ])("exits with 2 and a sentence when the module %s", async (what, text, problem) => {
    const at = await folder(what === "hangs" ? { loadTimeoutMs: 200 } : {});
    await writeFile(join(at.cwd, "app.mjs"), text);
    const ran = await at.run("lock", "app.mjs");
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(problem);
    expect(ran.err).not.toContain("\u001B");
  });

  it("takes the export that it is told", async () => {
    const at = await folder();
    await writeFile(join(at.cwd, "app.mjs"), `export { app as face } from ${JSON.stringify(real)}; export default 1;`);
    expect(await at.run("lock", "app.mjs", "--export", "face")).toMatchObject({ code: 0 });
    expect((await at.run("lock", "app.mjs", "--export", "default")).err).toContain(
      `its export "default" is not an app`,
    );
  });

  it.each([
    ["no module", ["check"]],
    ["two modules", ["check", "a.mjs", "b.mjs"]],
    ["an unknown format", ["check", "a.mjs", "--format", "xml"]],
    ["an empty path", ["lock", "a.mjs", "--out", ""]],
    ["an unknown option", ["inspect", "a.mjs", "--frobnicate"]],
  ])("answers %s with code 2 and where help is", async (_what, args) => {
    const at = await folder();
    const ran = await at.run(...args);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(`see "surface-mcp --help"`);
  });
});

describe("inspect", () => {
  it("writes everything that agents can reach as a table, and what they cannot", async () => {
    const at = await folder({ isTerminal: true });
    const { code, out } = await at.run("inspect", real);
    expect(code).toBe(0);
    expect(out).toContain("\u001B[1mtools (3)\u001B[22m\n");
    expect(out).toMatch(/^note_add +procedure \(tag\) +changes, destructive +notes:write +never +default hub$/m);
    expect(out).toMatch(/^hub_git_branch +operation \(mount hub\) +reads +notes:read +never +default hub$/m);
    expect(out).toContain("not exposed (0)");
  });

  it("lists the pages of tools, and the skills", async () => {
    const at = await folder();
    const { code, out } = await at.run("inspect", shown);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^ui:\/\/shop\/cart_show +cart_show +connect https:\/\/api\.example\.com +clipboardWrite +all$/m,
    );
    expect(out).toContain("\npages (1)\n");
    expect(out).toContain("\nskills (1)\n");
    expect(out).toMatch(/^deploy +1 +default +Deploy a release\.$/m);
    // A tool for pages that has none itself.
    expect(out).not.toContain("ui://shop/cart_set");
  });

  it("writes JSON", async () => {
    const at = await folder();
    expect(JSON.parse((await at.run("inspect", real, "--json")).out)).toMatchObject({
      tools: { note_show: { hints: { readOnly: true } } },
      unexposed: [],
    });
  });
});

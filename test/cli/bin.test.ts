import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
}

const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const program = join(root, manifest.bin["surface-mcp"] ?? "");
const app = fileURLToPath(new URL("fixtures/app.mjs", import.meta.url));
let home = "";

function run(...args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [program, ...args], {
    cwd: home,
    env: { ...process.env, HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: undefined, CODEX_HOME: undefined },
    encoding: "utf8",
    timeout: 15_000,
  });
}

describe("the built command", () => {
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), "surface-mcp-bin-"));
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it("begins with a shebang line", () => {
    expect(readFileSync(program, "utf8").startsWith("#!/usr/bin/env node\n")).toBe(true);
  });

  it("installs, lists and removes in the user's home folder", () => {
    const line = ["install", "codex", "--surface", "hub", "--name", "x", "--url", "http://127.0.0.1:4000/mcp"];
    expect(run(...line)).toMatchObject({ status: 0, stderr: "" });
    expect(statSync(join(home, ".codex", "config.toml")).size).toBeGreaterThan(0);
    expect(run("install", "--list").stdout).toBe("codex  user  x  http://127.0.0.1:4000/mcp?surface=hub\n");
    expect(run(...line)).toMatchObject({ status: 1, stdout: "" });
    expect(run("install", "--remove", "x").status).toBe(0);
    expect(readFileSync(join(home, ".codex", "config.toml"), "utf8")).toBe("");
  });

  it("prints its version, and exits with 2 for unknown arguments", () => {
    expect(run("--version").stdout).toBe(`${manifest.version}\n`);
    expect(run("frobnicate")).toMatchObject({ status: 2, stdout: "" });
  });

  it.each([
    ["readonly", ["note_show"], { visible_resources: ["notes"] }],
    ["hub", ["call", "list", "schema", "search"], { operations: ["hub.git.branch", "note.add", "note.show"] }],
    ["locked", [], { verdict: { kind: "deny", reason: "not now" } }],
  ])("replays the view %s of an app that is not served", (surface, tools, more) => {
    const ran = run("replay", app, "--surface", surface, "--json");
    expect(ran).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(ran.stdout)).toMatchObject({ entity: { surface }, visible_tools: tools, ...more });
  });

  it("exits with 1, and prints the replay, for an undefined view", () => {
    const ran = run("replay", app, "--surface", "nevr", "--json");
    expect(ran).toMatchObject({ status: 1, stderr: `surface-mcp: Cannot replay: the app has no view "nevr"\n` });
    expect(JSON.parse(ran.stdout)).toMatchObject({ verdict: { kind: "deny", reason: "unknown MCP surface" } });
  });

  it("writes only the replay to standard output when the app's module prints", () => {
    writeFileSync(
      join(home, "loud.mjs"),
      `const { log } = console;
       log("loading");
       process.stdout.write("by hand\\n");
       setInterval(() => log("later"), 0);
       const replay = { entity: { surface: "default" }, verdict: { kind: "tool_surface" }, visible_tools: [],
         visible_tool_count: 0, visible_resources: [], hidden: [] };
       export const app = { replay: () => (log("replaying"), replay) };`,
    );
    const ran = run("replay", "loud.mjs", "--json");
    expect(ran.status).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ visible_tool_count: 0 });
    expect(ran.stderr).toContain("loading\nby hand\nreplaying\n");
  });

  it("prints the rule that hides each entry, as the guide shows it", () => {
    const { stdout } = run("replay", app, "--surface", "readonly");
    expect(readFileSync(join(root, "docs/guide/clients.md"), "utf8")).toContain(`\`\`\`text\n${stdout}\`\`\``);
    expect(stdout).toContain(`  note.add        rule "readonly": readOnly\n`);
    expect(stdout).toContain(`  hub.git.branch  rule "readonly": disallow "hub.*"\n`);
  });

  it("prints the whole replay and ends when the app's module keeps the process busy", () => {
    const many = Array.from({ length: 20_000 }, (_none, index) => `tool_${index}`);
    const shown = `{ entity: { surface: "default" }, verdict: { kind: "tool_surface" }, visible_tools: ${JSON.stringify(many)},
      visible_tool_count: 20000, visible_resources: [], hidden: [] }`;
    writeFileSync(
      join(home, "busy.mjs"),
      `setInterval(() => {}, 1000); export const app = { replay: () => (${shown}) };`,
    );
    const ran = run("replay", "busy.mjs");
    expect(ran).toMatchObject({ status: 0, stderr: "" });
    expect(ran.stdout).toContain("  tool_19999\n");
  });
});

describe("the built command, with a module that does more than make an app", () => {
  it.each([
    ["a server over HTTP", `import { createServer } from "node:http"; createServer().listen(0, "127.0.0.1");`],
    ["a server of node:net", `import { createServer } from "node:net"; createServer().listen(0, "127.0.0.1");`],
  ])("says that it starts %s", (_what, text) => {
    const folder = mkdtempSync(join(tmpdir(), "surface-mcp-bin-"));
    try {
      writeFileSync(join(folder, "app.mjs"), `${text} export { app } from ${JSON.stringify(app)};`);
      const ran = spawnSync(process.execPath, [program, "lock", "app.mjs"], { cwd: folder, encoding: "utf8" });
      expect(ran).toMatchObject({ status: 2, stdout: "" });
      expect(ran.stderr).toContain("it starts a server");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each([
    ["serves over stdio", `import { stdio } from "surface-mcp"; void app.serve(stdio());`, "it calls serve()"],
    [
      "serves over HTTP",
      `import { http } from "surface-mcp/http"; void app.serve(http({ port: 0 }));`,
      "it calls serve()",
    ],
    ["ends the process", `process.exit(0);`, "it ends the process"],
    ["throws later", `setTimeout(() => { throw new Error("late"); }); await new Promise(() => {});`, "late"],
    ["rejects unheard", `void Promise.reject(new Error("loose"));`, "loose"],
  ])("exits with 2 and a sentence when the module %s", (_what, text, problem) => {
    mkdirSync(join(root, ".scratch"), { recursive: true });
    // The module imports the package by its name.
    const folder = mkdtempSync(join(root, ".scratch", "bin-"));
    try {
      const imported = `import { app } from ${JSON.stringify(app)}; export { app };`;
      writeFileSync(join(folder, "app.mjs"), `${imported} ${text}`);
      const ran = spawnSync(process.execPath, [program, "inspect", "app.mjs"], { cwd: folder, encoding: "utf8" });
      expect(ran).toMatchObject({ status: 2, stdout: "" });
      expect(ran.stderr).toContain(`surface-mcp: `);
      expect(ran.stderr).toContain(problem);
      expect(ran.stderr).not.toContain("    at ");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("locks, checks and lists an app, and reads a lockfile from standard input", () => {
    const folder = mkdtempSync(join(tmpdir(), "surface-mcp-bin-"));
    try {
      const by = (input: string, ...args: readonly string[]): SpawnSyncReturns<string> =>
        spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: "utf8", input });
      expect(by("", "lock", app)).toMatchObject({ status: 0, stderr: "" });
      const text = readFileSync(join(folder, "exposure.lock.json"), "utf8");
      expect(by(text, "check", app, "--base", "-")).toMatchObject({ status: 0, stderr: "" });
      expect(by("{}", "check", app, "--base", "-")).toMatchObject({ status: 2, stdout: "" });
      expect(by("", "inspect", app).stdout).toContain("note_add");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";

/** Runs a command, and returns its output. Throws with what it reports if it fails. */
function run(cwd: string, command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: "pipe" });
}

/** The files of the repository as they are now, without what is built. */
function listFiles(): readonly string[] {
  const paths = run(root, "git", "ls-files", "--cached", "--others", "--exclude-standard").trim().split("\n");
  return paths.filter((path) => existsSync(join(root, path)));
}

/** Copies the sources into a folder, builds them there, and returns the archive. */
function buildIn(folder: string): Buffer {
  copyTo(folder);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  run(folder, process.execPath, "scripts/build.mjs");
  return packIn(folder);
}

/** Copies the sources and what was built of them into a folder, and returns the archive. */
function copyBuilt(folder: string): Buffer {
  copyTo(folder);
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  return packIn(folder);
}

function copyTo(folder: string): void {
  for (const path of listFiles()) cpSync(join(root, path), join(folder, path));
}

function packIn(folder: string): Buffer {
  run(folder, "npm", "pack", "--ignore-scripts");
  const [archive = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  return readFileSync(join(folder, archive));
}

let scratch = "";

describe("two archives of the same sources", () => {
  beforeEach(() => {
    mkdirSync(join(root, ".scratch"), { recursive: true });
    scratch = mkdtempSync(join(root, ".scratch", "packed-twice-"));
  });

  afterEach(() => rmSync(scratch, { recursive: true, force: true }), 120_000);

  it("have the same bytes when each is built in a folder of its own", { timeout: 600_000 }, () => {
    const first = copyBuilt(join(scratch, "one"));
    const second = buildIn(join(scratch, "another"));
    expect(first.length).toBeGreaterThan(100_000);
    expect(second.equals(first)).toBe(true);
  });
});

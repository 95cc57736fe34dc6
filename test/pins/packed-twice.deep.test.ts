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

/** Copies the repository into a folder, builds it there, and returns the archive. */
function packIn(folder: string): Buffer {
  for (const path of listFiles()) cpSync(join(root, path), join(folder, path));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  run(folder, process.execPath, "scripts/build.mjs");
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
    const [first, second] = ["one", "another"].map((name) => packIn(join(scratch, name)));
    expect(first?.length).toBeGreaterThan(100_000);
    expect(second?.equals(first ?? Buffer.alloc(0))).toBe(true);
  });
});

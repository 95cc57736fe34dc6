import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./markdown-snippets.ts";

const guide = readFileSync(join(root, "docs", "guide", "exposure-in-ci.md"), "utf8");
const recipe = readFileSync(join(root, "test-d", "notes-exposure.test-d.ts"), "utf8");

/** What tsd says of a test that stands one level below the root, as the recipe does; it is to fail. */
async function failTsd(name: string, code: string): Promise<string> {
  const file = join(".scratch", `${name}-${process.pid}.test-d.ts`);
  mkdirSync(join(root, ".scratch"), { recursive: true });
  writeFileSync(join(root, file), code);
  const tsd = join(root, "node_modules", "tsd", "dist", "cli.js");
  const args = [tsd, "--typings", "dist/index.d.ts", "--files", file];
  try {
    return await new Promise((resolve, reject) => {
      execFile(process.execPath, args, { cwd: root, encoding: "utf8" }, (error, stdout, stderr) => {
        if (error?.code === 1) resolve(stdout + stderr);
        else reject(error ?? new Error("tsd has nothing to object"));
      });
    });
  } finally {
    rmSync(join(root, file), { force: true });
  }
}

describe("the recipe for tsd", () => {
  test(
    "fails as the guide says when a tool is not in it, and when what must not compile does",
    { timeout: 120_000 },
    async () => {
      const stale = recipe.replace('  | "note_remove"\n', "").replace('{ "note.purge": "tool" }', "{}");
      const said = await failTsd("stale-exposure", stale);
      const shown = /^```text\n(Type boolean is[\s\S]*?)\n```$/m.exec(guide)?.[1]?.split("\n") ?? [];
      expect(shown).toHaveLength(2);
      for (const line of shown) expect(said).toContain(line);
      expect(said).toContain("2 errors");
    },
  );
});

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { root } from "./source.ts";

/** Test files that fail a run, and the last one that does not. */
const files: Readonly<Record<string, string>> = {
  rejects: `it("passes", () => void Promise.reject(new Error("nobody\\nwaits")));`,
  hook: `describe("group", () => { afterAll(() => { throw new Error("torn"); }); it("passes", () => {}); });`,
  unloadable: `import "./nowhere.ts";`,
  killed: `it("ends", () => { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); });`,
  fails: `it("compares", () => { expect(1, "one").toBe(2); });`,
  retried: `let runs = 0; it("settles", () => { expect(runs++).toBe(1); });`,
};

/** Runs files of tests with the reporter; returns its report. */
async function report(): Promise<{ readonly failures: readonly string[]; readonly retried: readonly string[] }> {
  mkdirSync(join(root, ".scratch"), { recursive: true });
  const folder = mkdtempSync(join(root, ".scratch", "report-tests-"));
  atEndOfTest(() => rmSync(folder, { recursive: true, force: true }));
  // Without one it takes that of the repository.
  writeFileSync(join(folder, "vitest.config.mjs"), "export default {};");
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(
      join(folder, `${name}.test.ts`),
      `import { afterAll, describe, expect, it } from "vitest";\n${text}\n`,
    );
  }
  const reporter = `--reporter=${join(root, "scripts/report-tests.mjs")}`;
  const args = ["run", "--root", folder, "--retry=1", reporter, "--outputFile.json=report.json"];
  await new Promise((resolve) => {
    execFile(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), ...args], resolve);
  });
  return JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
}

it("names each cause of a failed run of tests in one line", async () => {
  const { failures, retried } = await report();
  const found = failures.map((line) => line.replace(/^\.scratch\/[^/]+\//, "")).toSorted();
  expect(found).toEqual([
    "Unhandled Error: [vitest-pool]: Worker forks emitted error.; caused by Worker exited unexpectedly",
    "fails.test.ts: compares: one: expected 1 to be 2 // Object.is equality",
    "hook.test.ts: group: outside a test: torn",
    "killed.test.ts: ends: not finished",
    expect.stringMatching(
      /^rejects\.test\.ts: (?:passes: )?Unhandled Rejection: nobody \| waits \(.*rejects\.test\.ts:2:\d+\)$/,
    ),
    expect.stringMatching(/^unloadable\.test\.ts: outside a test: Cannot find module '\.\/nowhere\.ts'/),
  ]);
  expect(retried).toEqual(["retried.test.ts: settles: expected +0 to be 1 // Object.is equality"]);
});

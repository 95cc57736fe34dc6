import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../docs/markdown-snippets.ts";

test("the quickstart's client sees what the README says it sees", { timeout: 60_000 }, () => {
  const run = spawnSync(process.execPath, ["--import", import.meta.resolve("tsx"), "examples/quickstart/client.ts"], {
    cwd: root,
    encoding: "utf8",
    timeout: 50_000,
  });
  expect(run.stderr).toBe("");
  expect(run.status).toBe(0);
  expect(readFileSync(join(root, "README.md"), "utf8")).toContain(`\`\`\`text\n${run.stdout}\`\`\``);
});

import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { root } from "../docs/markdown-snippets.ts";

test("the notes client finds what it asserts when it drives the server over stdio", { timeout: 60_000 }, () => {
  const run = spawnSync(process.execPath, ["--import", import.meta.resolve("tsx"), "examples/notes/client.ts"], {
    cwd: root,
    encoding: "utf8",
    timeout: 50_000,
  });
  expect(run.stderr).toBe("");
  expect(run.status).toBe(0);
  expect(run.stdout).toContain('by hand:   {"id":"groceries","change":"edited"}');
});

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";

describe("the cost of the types", () => {
  // The count is exact, and the same on every machine: no clock is read here.
  it("npm run bench:types holds its budget of instantiations a member when a surface has 100", () => {
    const script = join(root, "bench", "types.mjs");
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, "100"], { encoding: "utf8" });
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toMatch(/100 members +│ +\d+ /);
  }, 120_000);

  it("npm run bench:types fails when a size is over budget", () => {
    const script = join(root, "bench", "types.mjs");
    const { status, stderr } = spawnSync(process.execPath, [script, "100"], {
      encoding: "utf8",
      env: { ...process.env, TYPE_BUDGET: "100" },
    });
    expect(stderr).toContain("over budget: 100 members cost");
    expect(status).toBe(1);
  }, 120_000);
});

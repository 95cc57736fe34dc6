import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";

// `npm run test:deep` holds the budget itself: the check `deep:types-cost`.
describe("the cost of the types", () => {
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

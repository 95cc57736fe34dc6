import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";

function runBench(environment: Readonly<Record<string, string>>): {
  readonly status: number | null;
  readonly stderr: string;
} {
  const script = join(root, "bench", "types.mjs");
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [script, "100"], { encoding: "utf8", env });
}

// `npm run test:deep` holds the budgets itself: the check `deep:types-cost`.
describe("the cost of the types", () => {
  it("npm run bench:types fails when a size is over budget", () => {
    const { status, stderr } = runBench({ TYPE_BUDGET: "100" });
    expect(stderr).toContain("over budget: 100 members cost");
    expect(status).toBe(1);
  }, 120_000);

  it("npm run bench:types fails when a procedure of a router or an operation of a document is over budget", () => {
    const { status, stderr } = runBench({ PROCEDURE_BUDGET: "100" });
    for (const kind of ["tRPC", "oRPC", "OpenAPI"]) {
      expect(stderr).toContain(`over budget: an exposed procedure or operation of ${kind}`);
    }
    expect(status).toBe(1);
  }, 240_000);
});

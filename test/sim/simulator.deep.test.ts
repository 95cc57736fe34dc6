import { describe, expect, it } from "vitest";
import { bundleWorker } from "./bundle-worker.ts";
import { hunt } from "./hunt.ts";
import { mutants } from "./mutants.ts";
import { runMany } from "./run-many.ts";

/** Bounds on a hang, on a machine that may be busy. */
const longMs = 240_000;

describe("the spine under simulation", () => {
  it(
    "keeps every promise when 100,000 schedules of faults are run",
    async () => {
      const script = await bundleWorker();
      const sum = await runMany({ script, seed: 1, schedules: 100_000, steps: 99 });
      expect(sum.failure).toBeUndefined();
      expect(sum.schedules).toBe(100_000);
      const kinds = ["dial refused", "link born dead", "link leaves", "link ended", "request lost", "request not sent"];
      expect(Object.keys(sum.faults)).toEqual(expect.arrayContaining([...kinds, "stream failed", "stale event"]));
    },
    longMs,
  );

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    "is found to be broken when %s",
    async (_name, mutant) => {
      const { schedule } = await hunt(mutant);
      expect(schedule).toBeDefined();
    },
    longMs,
  );
});

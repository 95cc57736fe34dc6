import { describe, expect, it } from "vitest";
import { amount } from "../setup/test-length.ts";
import { bundleWorker } from "./bundle-worker.ts";
import { hunt } from "./hunt.ts";
import { mutants } from "./mutants.ts";
import { runMany } from "./run-many.ts";

/** Bounds on a hang, on a machine that may be busy. */
const longMs = 240_000;

describe("the spine under simulation", () => {
  it(
    "keeps every promise when tens of thousands of schedules of faults are run",
    async () => {
      const script = await bundleWorker();
      const schedules = amount(30_000, 100_000);
      const sum = await runMany({ script, seed: 1, schedules, steps: 99 });
      expect(sum.failure).toBeUndefined();
      expect(sum.schedules).toBe(schedules);
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

import { describe, expect, it } from "vitest";
import { amount } from "../setup/test-length.ts";
import { runChaos } from "./run-chaos.ts";

/** Bounds on a hang, on a machine that may be busy. */
const longMs = 400_000;

describe("a server whose backend is killed repeatedly", () => {
  it(
    "fails no read, repeats no mutation and loses no change when it is under load meanwhile",
    async () => {
      const cycles = amount(20, 50);
      const { tally, failure } = await runChaos({ cycles, seed: 1 });
      expect(failure).toBeUndefined();
      expect(tally.cycles).toBe(cycles);
      expect(tally.leastInFlight).toBeGreaterThanOrEqual(100);
      expect([tally.failedReads, tally.duplicates]).toEqual([0, 0]);
      expect([...tally.strikes.keys()].toSorted()).toEqual(["end", "kill", "kill at start", "stop and kill"]);
      // A run in which little happened shows little.
      expect(tally.reads).toBeGreaterThan(cycles * 100);
      expect(tally.notices).toBeGreaterThan(cycles * 50);
      for (const outcome of ["ok", "UNAVAILABLE", "OUTCOME_UNKNOWN"]) {
        expect(tally.mutations.get(outcome)).toBeGreaterThan(cycles * 2);
      }
      const [first, last] = [tally.figures[0]?.rss ?? 0, tally.figures.at(-1)?.rss ?? 0];
      expect(last - first).toBeLessThan(150e6);
    },
    longMs,
  );

  // Behind a projection reads may be stale meanwhile, and are not counted as failed.
  it.each([
    ["web", { failedReads: 0, duplicates: 0 }],
    ["projection", { duplicates: 0 }],
  ] as const)(
    "repeats no mutation and loses no change when the way is %s",
    async (way, expected) => {
      const { tally, failure } = await runChaos({ cycles: amount(7, 50), seed: 1, way });
      expect(failure).toBeUndefined();
      expect(tally).toMatchObject(expected);
    },
    longMs,
  );
});

import { describe, expect, it } from "vitest";
import { amount } from "../setup/test-length.ts";
import { runChaos } from "./run-chaos.ts";

/** Bounds on a hang, on a machine that may be busy. */
const longMs = 400_000;

describe("a face whose backend is killed again and again", () => {
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

  it(
    "does so over a web socket",
    async () => {
      const { tally, failure } = await runChaos({ cycles: amount(7, 50), seed: 1, way: "web" });
      expect(failure).toBeUndefined();
      expect([tally.failedReads, tally.duplicates]).toEqual([0, 0]);
    },
    longMs,
  );

  it(
    "repeats no mutation and loses no change behind a projection, whose reads may be stale meanwhile",
    async () => {
      const { tally, failure } = await runChaos({ cycles: amount(7, 50), seed: 1, way: "projection" });
      expect(failure).toBeUndefined();
      expect(tally.duplicates).toBe(0);
    },
    longMs,
  );
});

import { describe, expect, it } from "vitest";
import { bundleWorker } from "./bundle-worker.ts";
import { mutants } from "./mutants.ts";
import { runMany } from "./run-many.ts";
import { runSchedule } from "./run-schedule.ts";
import { shrink } from "./shrink.ts";

describe("the spine under simulation", () => {
  it("keeps every promise when 1,500 schedules of faults are run", async () => {
    const sum = await runMany({ script: await bundleWorker(), seed: 7, schedules: 1500, steps: 99 });
    expect(sum.failure).toBeUndefined();
    expect(sum.schedules).toBe(1500);
  });

  it.each([
    [
      "a watcher comes and reads before the stream of its watch is opened",
      9590685,
      [48, 52, 53, 57, 58, 60, 82, 84, 88, 98],
    ],
  ])("keeps every promise when %s", (_what, seed, steps) => {
    expect(runSchedule({ seed, steps: 99, kept: new Set(steps) }).violation).toBeUndefined();
  });
});

describe("the simulator", () => {
  it("runs a seed with the same trace each time", () => {
    for (const seed of [1, 2, 77, 4_000_000_000]) {
      const first = runSchedule({ seed, steps: 99, isTraced: true });
      expect(first.trace.length).toBeGreaterThan(100);
      expect(runSchedule({ seed, steps: 99, isTraced: true })).toEqual(first);
    }
  });

  it("runs different seeds with different traces", () => {
    const story = (seed: number): string => runSchedule({ seed, steps: 99, isTraced: true }).trace.join("\n");
    expect(new Set(Array.from({ length: 50 }, (_, seed) => story(seed))).size).toBe(50);
  });

  it("reports the same first failure for one worker and several", async () => {
    const mutant = mutants.find(({ name }) => name === "somebody who left is told");
    const script = await bundleWorker(mutant?.patches);
    const failures = await Promise.all(
      [1, 3].map((workers) => runMany({ script, seed: 1, schedules: 10_000, steps: 99, workers })),
    );
    expect(failures[0]?.failure).toBeDefined();
    expect(failures[0]?.failure).toEqual(failures[1]?.failure);
  });

  it("refuses a bug when it does not fit the spine exactly once", async () => {
    const patch = { file: "spine/throttle.ts", find: "this.#", replacement: "" };
    await expect(bundleWorker([patch])).rejects.toThrow(/must be there once/);
    await expect(bundleWorker([{ ...patch, file: "spine/none.ts" }])).rejects.toThrow(/must be part of the bundle/);
    await expect(bundleWorker([{ ...patch, find: "not there" }])).rejects.toThrow(/0 times/);
  });

  it("expects nothing of a stream that was still opening when its watchers left", () => {
    const kept = new Set([8, 13, 15, 16, 17, 21]);
    expect(runSchedule({ seed: 8193055, steps: 99, kept }).violation).toBeUndefined();
  });

  it("keeps a schedule without a violation when it is shrunk", () => {
    expect(runSchedule({ seed: 1, steps: 99, kept: shrink({ seed: 1, steps: 3 }) }).violation).toBeUndefined();
  });
});

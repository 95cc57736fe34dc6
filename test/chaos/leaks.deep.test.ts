import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleProgram } from "./bundle-program.ts";
import { amount } from "../setup/test-length.ts";
import type { ChurnReport } from "./churn-report.ts";

/** A bound on a hang, on a machine that may be busy. */
const longMs = 240_000;

let script = "";
beforeAll(async () => {
  script = await bundleProgram("churn", "churn");
});

afterAll(() => rm(script, { force: true }));

async function churn(kind: string, cycles: number): Promise<ChurnReport> {
  const args = ["--expose-gc", script, kind, String(cycles)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], timeout: longMs });
  const [said, faults] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect(faults).toBe("");
  // The program made it.
  return JSON.parse(said) as ChurnReport;
}

describe("short-lived clients over a real socket", () => {
  it.each([
    ["watches", "watch", amount(20_000, 100_000)],
    ["subscriptions", "listen", amount(4000, 10_000)],
    ["waits that are cancelled", "wait", amount(4000, 10_000)],
  ])(
    "leave no memory, listener, timer and socket after thousands of %s",
    async (_what, kind, cycles) => {
      const { heapGrowth, active, most, subscribed, timers, resources } = await churn(kind, cycles);
      // What was measured did happen: half of them stayed until they were connected.
      expect(subscribed).toBeGreaterThanOrEqual(cycles / 2);
      expect(most).toBeGreaterThanOrEqual(50);
      expect(heapGrowth).toBeLessThan(1_000_000);
      expect(active).toBe(0);
      // Those of the connection, and one for all deadlines.
      expect(timers.after).toBeLessThanOrEqual(timers.before + 1);
      expect(timers.left).toBe(0);
      expect(resources.left).toEqual(resources.before);
    },
    longMs,
  );
});

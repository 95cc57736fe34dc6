import { describe, expect, it } from "vitest";
import { amount } from "../setup/test-length.ts";
import { hasRedis, whyNoRedis } from "./redis-server.ts";
import { runClusterChaos } from "./run-chaos.ts";

/** Bounds on a hang, on a machine that may be busy. */
const longMs = 600_000;

describe.runIf(hasRedis)(`three replicas that are killed under load, behind a proxy${whyNoRedis}`, () => {
  it(
    "double no call, lose no answered one, announce each last value and keep all sessions with their principals",
    async () => {
      const kills = amount(5, 40);
      const { clients, watchers, probes, violations, ...outcome } = await runClusterChaos({ kills, seed: 0 });
      expect(violations).toEqual([]);
      expect(outcome.kills).toBe(kills);
      // A run in which little happened shows little.
      const calls = clients.flatMap(({ mutations }) => mutations);
      expect(calls.filter(({ outcome: told }) => told === "answered").length).toBeGreaterThan(100);
      expect(calls.some(({ outcome: told }) => told === "lost" || told === "failed")).toBe(true);
      for (const { options, deliveries, notices } of [...clients, ...watchers]) {
        expect([options.name, deliveries > 0, notices > 0]).toEqual([options.name, true, true]);
      }
      expect(probes).toBeGreaterThanOrEqual(18);
    },
    longMs,
  );
});

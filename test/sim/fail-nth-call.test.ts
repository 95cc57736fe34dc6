import { describe, expect, it } from "vitest";
import { type OperationName, runScenario } from "./fail-nth-call.ts";
import type { Profile } from "./world.ts";

const scenarios: readonly (readonly OperationName[])[] = [
  ["watch a", "settle"],
  ["watch a", "settle", "change a", "settle"],
  ["watch a", "open", "speak", "change a", "speak", "change a", "speak", "settle"],
  ["watch a", "watch a", "settle", "change a", "settle", "unwatch", "change a", "settle"],
  ["watch a", "watch b", "settle", "change a", "change b", "settle"],
  ["watch a", "unwatch", "watch a", "settle"],
  ["watch a", "settle", "end", "settle", "change a", "settle"],
  ["watch a", "settle", "end", "change a", "refuse", "settle"],
  ["watch a", "settle", "leave", "change a", "settle"],
  ["watch a", "watch b", "settle", "leave", "open", "end", "settle"],
  ["watch a", "settle", "finish", "settle", "end", "change a", "settle"],
  ["watch a", "settle", "fail", "change a", "settle", "fail", "settle"],
  ["watch a", "refuse", "change a", "settle"],
  ["read a", "settle"],
  ["read a", "read a", "open", "answer", "end", "settle"],
  ["read a", "open", "leave", "answer", "read a", "settle"],
  ["mutate a", "settle"],
  ["mutate a", "open", "end", "settle", "mutate a", "settle"],
  ["mutate a", "open", "leave", "mutate a", "settle"],
  ["watch a", "settle", "mutate a", "answer", "settle"],
  ["watch a", "mutate a", "read a", "open", "end", "settle", "mutate a", "settle"],
  ["read a", "cancel", "mutate a", "open", "cancel", "watch a", "settle"],
  ["watch a", "settle", "mutate a", "close", "watch a", "read a", "settle"],
  ["mutate a", "refuse", "mutate a", "settle", "read a", "settle"],
];

const profiles: readonly Profile[] = ["strict", "normal"];

/** More calls than this, and a scenario does not end. */
const maxCalls = 500;

describe("the spine when one call of a port fails", () => {
  it.each(profiles.flatMap((profile) => scenarios.map((steps) => [steps.join(", "), profile, steps] as const)))(
    "keeps every promise whichever call it is when the scenario is: %s (%s)",
    (_name, profile, steps) => {
      const broken: unknown[] = [];
      let failAt = 0;
      for (let calls = 0; failAt <= calls && failAt < maxCalls; failAt += 1) {
        for (const seed of [1, 2, 3]) {
          const outcome = runScenario(steps, { profile, failAt, seed });
          calls = Math.max(calls, outcome.calls);
          if (outcome.violation !== undefined) broken.push({ failAt, seed, ...outcome.violation });
        }
        // What goes wrong makes a run longer: it is over when a run had no such call.
        if (failAt > calls) break;
      }
      expect(broken).toEqual([]);
      expect(failAt).toBeGreaterThan(2);
      expect(failAt).toBeLessThan(maxCalls);
    },
  );
});

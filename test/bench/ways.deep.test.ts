import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { WatchedSession } from "../../bench/driver/owned-session.ts";
import { eras, questions, toRequest } from "../../bench/driver/requests.ts";
import { ways, withWatchedWays } from "../../bench/driver/ways.ts";

const fromSource = (name: string): readonly string[] => [
  "--import",
  import.meta.resolve("tsx"),
  fileURLToPath(new URL(`../../bench/${name}.ts`, import.meta.url)),
];
const commands = { ours: fromSource("server"), written: fromSource("hand-written") };

/** Longer than the window of a notice. */
const patience = { timeout: 10_000 };

async function readCounter({ server, era }: WatchedSession): Promise<string> {
  return server.ask(toRequest(questions.read, era)(9));
}

describe.each(eras)("the ways of the benchmark (%s)", (era) => {
  it("tell of a change, when it was made, and what was written last, when their owner is told to write", async () => {
    await withWatchedWays(commands, era, async (sessions) => {
      for (const session of ways.map((way) => sessions[way])) {
        session.owner.change();
        await expect.poll(() => session.arrivals.length, patience).toBe(1);
        const { times, value } = await session.owner.report();
        expect([times.length, value]).toEqual([1, 1]);
        expect(session.arrivals[0]).toBeGreaterThan(times[0] ?? Number.NaN);
        const burst = await session.owner.burst({ writes: 20, turns: 2, windowMs: 10 });
        expect(burst.value).toBe(21);
        await expect.poll(() => readCounter(session), patience).toContain('"text":"21"');
      }
    });
  }, 60_000);
});

import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { inProcess } from "../../src/links/in-process.ts";
import { operationsOf, type Uses } from "../surface/uses-of.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { event, procedure } from "../../src/surface/define-members.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { Pushed } from "../surface/owner/pushed.ts";
import { until } from "../surface/support.ts";

/** A number of turns: of the microtask queue, then of the process. */
const turns = fc.record({ micro: fc.nat(12), macro: fc.nat({ max: 2 }) });
type Turns = { readonly micro: number; readonly macro: number };

const schedules = fc.record({
  /** From the start of the run to its end. */
  toSettle: turns,
  /** From the start of the run to the answer of the call that started it. */
  toAnswer: turns,
  /** From that answer to the wait. */
  toWait: turns,
});

const surface = (replayLast: boolean) =>
  defineSurface("ci", {
    settled: event({ output: z.number(), replayLast }),
    run: procedure({ output: z.number() }),
  });

const roads = ["inProcess", "ReconnectingSurface"] as const;
const ending: (() => Promise<void>)[] = [];

async function pass({ micro, macro }: Turns): Promise<void> {
  for (let turn = 0; turn < macro; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  for (let turn = 0; turn < micro; turn += 1) await Promise.resolve();
}

/** An engine whose runs settle when the schedule of the test says so, seen over one of the roads. */
async function openEngine(road: (typeof roads)[number], replayLast: boolean) {
  const asked = surface(replayLast);
  const pushed = new Pushed<number>();
  const engine = {
    schedule: { toSettle: { micro: 0, macro: 0 }, toAnswer: { micro: 0, macro: 0 } },
    started: 0,
    said: 0,
  };
  const live = implementSurface(asked, {
    settled: (_input: undefined, { signal }: { signal: AbortSignal }) => pushed.run(signal),
    run: async () => {
      engine.started += 1;
      const number = engine.started;
      void pass(engine.schedule.toSettle).then(() => {
        pushed.push(number);
        engine.said = number;
      });
      await pass(engine.schedule.toAnswer);
      return number;
    },
  });
  await until(() => pushed.running === 1);
  let channel: Uses;
  if (road === "inProcess") {
    channel = operationsOf((await inProcess(live).connect(asked)).channel);
  } else {
    const held = new ReconnectingSurface({ link: inProcess(live), surface: asked });
    ending.push(() => held.close());
    channel = operationsOf(held.channel);
  }
  ending.push(() => live.close());
  const wait = (since?: string) =>
    channel.wait("settled", undefined, { timeoutMs: 10_000, ...(since === undefined ? {} : { since }) });
  const recent = () => channel.recent("settled", undefined, {});
  const run = () => channel.call("run", undefined, {});
  return { engine, wait, recent, run };
}

afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

describe.each(roads)("a run that settles between two calls, over %s", (road) => {
  it("is not missed by a wait with the cursor of before, a thousand times", async () => {
    const { engine, wait, recent, run } = await openEngine(road, false);
    let { cursor } = await recent();
    for (const schedule of fc.sample(schedules, 1000)) {
      engine.schedule = schedule;
      const number = await run();
      await pass(schedule.toWait);
      const answer = await wait(cursor);
      expect(answer).toEqual({ status: "fired", cursor: expect.any(String), occurrence: number });
      ({ cursor } = answer);
    }
  });

  it("is not missed by a wait that was issued before the call, with a cursor or without, a thousand times", async () => {
    const { engine, wait, recent, run } = await openEngine(road, false);
    let { cursor } = await recent();
    for (const [index, schedule] of fc.sample(schedules, 1000).entries()) {
      engine.schedule = schedule;
      const waiting = index % 2 === 0 ? wait() : wait(cursor);
      const number = await run();
      const answer = await waiting;
      expect(answer).toEqual({ status: "fired", cursor: expect.any(String), occurrence: number });
      ({ cursor } = answer);
    }
  });

  it("is what a wait without a cursor begins with, and never the run before it, where the event replays its last", async () => {
    const { engine, wait, run } = await openEngine(road, true);
    for (const schedule of fc.sample(schedules, 1000)) {
      engine.schedule = schedule;
      const number = await run();
      await pass(schedule.toWait);
      const said = engine.said;
      const answer = await wait();
      expect(answer.status).toBe("fired");
      expect(answer.occurrence).toBeGreaterThanOrEqual(said);
      // The run was still going on: its end is what comes next.
      const last = answer.occurrence === number ? answer : await wait(answer.cursor);
      expect(last.occurrence).toBe(number);
    }
  });
});

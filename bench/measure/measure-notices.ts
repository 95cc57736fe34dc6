import { setTimeout as sleep } from "node:timers/promises";
import type { Commands } from "../driver/open-session.ts";
import type { WatchedSession } from "../driver/owned-session.ts";
import { type Way, ways, withWatchedWays } from "../driver/ways.ts";
import { quantile } from "../report/statistics.ts";
import { type Figures, type Pair, type Sample, toSample } from "./sample.ts";

/** Between the changes of two sessions. Six of them are more than a window: each change comes after quiet. */
const slotMs = 22;

/** Longer than any notice takes. */
const patienceMs = 400;

type WatchedWays = Readonly<Record<Way, WatchedSession>>;

/** Changes each value in turn, so that all sessions meet the same weather while each of them is quiet between. */
async function changeInTurns(sessions: readonly WatchedSession[], changes: number): Promise<void> {
  for (let count = 0; count < changes; count += 1) {
    for (const { owner } of sessions) {
      owner.change();
      await sleep(slotMs);
    }
  }
  await sleep(patienceMs);
}

/** From each change to its notice. */
async function takeLatencies({ owner, arrivals }: WatchedSession): Promise<readonly number[]> {
  const { times } = await owner.report();
  const heard = arrivals.splice(0);
  if (heard.length !== times.length) {
    throw new Error(`Benchmark: ${times.length} changes after quiet had ${heard.length} notices`);
  }
  return heard.map((arrival, index) => arrival - (times[index] ?? Number.NaN));
}

function toFigures(latenciesMs: readonly number[], prefix: string): Figures {
  return {
    [`${prefix}change to notice p50, ms`]: quantile(latenciesMs, 0.5),
    [`${prefix}change to notice p99, ms`]: quantile(latenciesMs, 0.99),
  };
}

async function compare(watched: WatchedWays): Promise<readonly [string, Pair][]> {
  const written = await takeLatencies(watched.written);
  const bridged = await takeLatencies(watched.bridged);
  const inProcess = await takeLatencies(watched.inProcess);
  const suffix = ` (${watched.written.era})`;
  return [
    ...toSample(toFigures(bridged, "bridged "), toFigures(written, "bridged "), suffix),
    ...toSample(toFigures(inProcess, ""), toFigures(written, ""), suffix),
  ];
}

/** How many changes a round makes of each value: enough for the hundredth part of them to be more than none. */
export const changesARound = 101;

/** One round of changes after quiet, in both eras and all ways, one after the other. */
export function measureNotices(commands: Commands, round: number, changes: number): Promise<Sample> {
  return withWatchedWays(commands, "legacy", (legacy) =>
    withWatchedWays(commands, "modern", async (modern) => {
      const all = [legacy, modern].flatMap((sessions) => ways.map((way) => sessions[way]));
      const inTurn = round % 2 === 0 ? all : all.toReversed();
      // Not counted.
      await changeInTurns(inTurn, 8);
      for (const session of inTurn) await takeLatencies(session);
      await changeInTurns(inTurn, changes);
      return new Map([...(await compare(legacy)), ...(await compare(modern))]);
    }),
  );
}

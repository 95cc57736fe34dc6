import { setTimeout as sleep } from "node:timers/promises";
import type { Commands } from "../driver/open-session.ts";
import type { WatchedSession } from "../driver/owned-session.ts";
import { type Era, questions, toRequest } from "../driver/requests.ts";
import { ways, withWatchedWays } from "../driver/ways.ts";
import type { OwnSamples, Pair } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

/** The window of a server that says nothing else. */
const windowMs = 100;
const writes = 10_000;

const bursts = [
  { name: "at once", turns: 1 },
  { name: "in 100 turns", turns: 100 },
] as const;

interface Heard {
  readonly notices: number;
  /** Four at once, and then one for each window that the writes took, begun or whole. */
  readonly allowed: number;
}

async function readCounter({ server, era }: WatchedSession): Promise<unknown> {
  // The answer is looked at key by key below.
  const { result } = JSON.parse(await server.ask(toRequest(questions.read, era)(3))) as {
    readonly result?: { readonly contents?: readonly { readonly text?: string }[] };
  };
  return JSON.parse(result?.contents?.[0]?.text ?? "null");
}

async function untilQuiet(arrivals: readonly number[]): Promise<void> {
  let before = -1;
  while (arrivals.length !== before) {
    before = arrivals.length;
    await sleep(3 * windowMs);
  }
}

/** Fails where the last value is not announced, or cannot be read then. */
async function hearBurst(session: WatchedSession, turns: number): Promise<Heard> {
  const { times, value } = await session.owner.burst({ writes, turns, windowMs });
  await untilQuiet(session.arrivals);
  const [first = Number.NaN, last = Number.NaN] = times;
  const heard = session.arrivals.splice(0);
  const lastHeard = heard.at(-1) ?? Number.NaN;
  const read = await readCounter(session);
  if (lastHeard >= last && read === value)
    return { notices: heard.length, allowed: 4 + Math.ceil((last - first) / windowMs) };
  throw new Error(
    `Benchmark: ${value} was written last, ${last - lastHeard} ms after the last notice, and ${String(read)} read`,
  );
}

/** Bursts of writes, compared with the server written by hand, and with what the design allows. */
export function measureBursts(commands: Commands, era: Era, round: number): Promise<OwnSamples> {
  return withWatchedWays(commands, era, async (sessions) => {
    const written: [string, Pair][] = [];
    const own: [string, Pair][] = [];
    for (const { name, turns } of bursts) {
      const heard = await takeTurns(round, ways, (way) => hearBurst(sessions[way], turns));
      for (const way of ["bridged", "inProcess"] as const) {
        const { notices, allowed: most } = heard[way];
        const figure = `${way === "bridged" ? "bridged " : ""}notices of 10,000 writes ${name} (${era})`;
        written.push([figure, { ours: notices, base: heard.written.notices }]);
        own.push([`allowed: ${figure}`, { ours: notices, base: most }]);
      }
    }
    return { written: new Map(written), own: new Map(own) };
  });
}

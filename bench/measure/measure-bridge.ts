import type { Commands } from "../driver/open-session.ts";
import { openBridged, type OwnedSession, watchCounter } from "../driver/owned-session.ts";
import { pump } from "../driver/pump.ts";
import { type Era, type Question, questions, toRequest } from "../driver/requests.ts";
import { ways, withWays } from "../driver/ways.ts";
import { quantile } from "../report/statistics.ts";
import { type Figures, type OwnSamples, type Sample, toSample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

const asked = [
  { what: "call", question: questions.echo },
  { what: "read", question: questions.read },
] as const satisfies readonly { readonly what: string; readonly question: Question }[];

async function takeFigures({ server }: OwnedSession, era: Era): Promise<Figures> {
  const found: [string, number][] = [];
  for (const { what, question } of asked) {
    const request = toRequest(question, era);
    const { latenciesMs } = await pump(server, { total: 400, inFlight: 1, request });
    const total = 3_000;
    const { elapsedMs } = await pump(server, { total, inFlight: 32, request });
    found.push([`${what} p50, µs`, quantile(latenciesMs, 0.5) * 1_000]);
    found.push([`${what}s /s, 32 in flight`, (total * 1_000) / elapsedMs]);
  }
  return Object.fromEntries(found);
}

/** Enough for the compiler inside Node to have seen every path. */
async function warmUp({ server }: OwnedSession, era: Era): Promise<void> {
  for (const { question } of asked)
    await pump(server, { total: 3_000, inFlight: 32, request: toRequest(question, era) });
}

function withPrefix(figures: Figures, prefix: string): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}${name}`, value]));
}

function onlyReads(figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).filter(([name]) => name.startsWith("read")));
}

/** One round of calls and reads over the bridge, in process and by hand, and of reads of what is watched. */
export function measureBridge(commands: Commands, era: Era, round: number): Promise<OwnSamples> {
  return withWays(commands, era, async (unwatched) => {
    const bridge = await openBridged(commands.ours, era);
    try {
      const sessions = { ...unwatched, watched: await watchCounter(bridge, era) };
      const all = [...ways, "watched"] as const;
      for (const way of all) await warmUp(sessions[way], era);
      const { bridged, inProcess, written, watched } = await takeTurns(round, all, (way) =>
        takeFigures(sessions[way], era),
      );
      const suffix = ` (${era})`;
      const against = (base: Figures, prefix: string): Sample =>
        toSample(withPrefix(bridged, prefix), withPrefix(base, prefix), suffix);
      const warm = toSample(withPrefix(onlyReads(watched), "warm: "), withPrefix(onlyReads(bridged), "warm: "), suffix);
      return { written: against(written, "bridged "), own: new Map([...against(inProcess, "bridge: "), ...warm]) };
    } finally {
      await bridge.stop();
    }
  });
}

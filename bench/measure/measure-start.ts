import { type Commands, sides } from "../driver/open-session.ts";
import { readCpuTime } from "../driver/read-cpu-time.ts";
import { type Era, eras, toOpening } from "../driver/requests.ts";
import { ServerProcess } from "../driver/server-process.ts";
import { type Figures, type Pair, type Sample, toSample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

const opening: Readonly<Record<Era, string>> = { legacy: "initialize", modern: "server/discover" };

async function startOnce(args: readonly string[], era: Era): Promise<Figures> {
  const start = performance.now();
  const server = new ServerProcess(args);
  try {
    await server.ask(toOpening(era));
    const elapsed = performance.now() - start;
    const cpu = readCpuTime(server.pid);
    return {
      [`cold start to ${opening[era]}, ms`]: elapsed,
      [`CPU until ${opening[era]}, ms`]: cpu === undefined ? undefined : cpu / 1_000,
    };
  } finally {
    await server.stop();
  }
}

/** One cold start a side and era: from the start of the process to its first answer. */
export async function measureStart(commands: Commands, round: number): Promise<Sample> {
  const found: [string, Pair][] = [];
  for (const era of eras) {
    const { ours, written } = await takeTurns(round, sides, (side) => startOnce(commands[side], era));
    found.push(...toSample(ours, written));
  }
  return new Map(found);
}

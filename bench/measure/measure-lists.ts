import { type Commands, openSession, sides } from "../driver/open-session.ts";
import { pump } from "../driver/pump.ts";
import { questions, toRequest } from "../driver/requests.ts";
import { quantile } from "../report/statistics.ts";
import { type Pair, type Sample, toSample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

/** How many tools are listed, all told, and how many lists are asked for. */
const sizes = [
  { tools: 10, total: 300 },
  { tools: 100, total: 150 },
  { tools: 1_000, total: 40 },
] as const;

/** The tools that a server has without being asked for more. */
const own = 3;

/** One round of lists on fresh processes: how long they take to start, and, in the middle, to answer a list. */
export async function measureLists(commands: Commands, round: number): Promise<Sample> {
  const found: [string, Pair][] = [];
  for (const { tools, total } of sizes) {
    const load = { total, inFlight: 1, request: toRequest(questions.list, "legacy") };
    const { ours, written } = await takeTurns(round, sides, async (side) => {
      const start = performance.now();
      const server = await openSession([...commands[side], "--tools", String(tools - own)], "legacy");
      const startMs = performance.now() - start;
      try {
        await pump(server, { ...load, total: total / 2 });
        const { latenciesMs } = await pump(server, load);
        return {
          [`tools/list of ${tools}, ms`]: quantile(latenciesMs, 0.5),
          [`start with ${tools} tools, ms`]: startMs,
        };
      } finally {
        await server.stop();
      }
    });
    found.push(...toSample(ours, written));
  }
  return new Map(found);
}

import { type Commands, type Side, sides } from "../driver/open-session.ts";
import { readCpuTime } from "../driver/read-cpu-time.ts";
import type { Era } from "../driver/requests.ts";
import { Watchers } from "../http/fan-out.ts";
import { type HttpProcess, startHttp } from "../http/http-process.ts";
import { median, quantile } from "../report/statistics.ts";
import { type Figures, type Sample, toSample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

/** How many are told of one change. */
export const watchers = 1_000;

const changes = 10;

async function takeFigures(process: HttpProcess, era: Era): Promise<Figures> {
  const all = await Watchers.open(process.port, era, watchers);
  try {
    // The first few are for the compiler inside Node.
    await all.hear(process, 3);
    const before = readCpuTime(process.server.pid);
    const heard = await all.hear(process, changes);
    const after = readCpuTime(process.server.pid);
    const last = median(heard.map((times) => Math.max(...times)));
    return {
      "HTTP change to 1,000 watchers p50, ms": quantile(heard.flat(), 0.5),
      "HTTP change to 1,000 watchers, the last, ms": last,
      "HTTP CPU of a change to 1,000 watchers, ms":
        before === undefined || after === undefined ? undefined : (after - before) / changes / 1_000,
    };
  } finally {
    all.close();
  }
}

/** One round of changes that a thousand clients are told of, on a fresh process a side. */
export async function measureHttpFanOut(commands: Commands, era: Era, round: number): Promise<Sample> {
  const { ours, written } = await takeTurns(round, sides, async (side: Side) => {
    const process = await startHttp([...commands[side], "--era", era, "--most", String(watchers)]);
    try {
      return await takeFigures(process, era);
    } finally {
      await process.server.stop();
    }
  });
  return toSample(ours, written, ` (${era})`);
}

import { setTimeout as sleep } from "node:timers/promises";
import { type Era, questions } from "../driver/requests.ts";
import { Watchers } from "../http/fan-out.ts";
import type { HttpConnection } from "../http/http-connection.ts";
import { type HttpProcess, startHttp } from "../http/http-process.ts";
import { openClient } from "../http/http-client.ts";
import { pumpHttp } from "../http/pump-http.ts";
import { quantile } from "../report/statistics.ts";
import type { Finding } from "./finding.ts";
import { openStuckReaders } from "./stuck-readers.ts";

/** How many clients do not read. */
const stuckReaders = 10;

const warmStreams = 10;

const limits = { openMs: 5_000, heapKb: 64, fanOutMs: 150, slowdown: 2 } as const;

/** Enough for its hundredth part to be of many changes. */
const changes = 20;

/** Has the server run every path once: what the first of them takes is not what one more of them takes. */
async function warmUp(process: HttpProcess, era: Era): Promise<void> {
  const client = await openClient(process.port, { era });
  await pumpHttp([client], questions.echo, 500);
  await pumpHttp([client], questions.big, 100);
  const few = await Watchers.open(process.port, era, warmStreams);
  await few.hear(process, 5);
  few.close();
  client.connection.close();
}

async function fanOut(watchers: Watchers, process: HttpProcess): Promise<number> {
  return quantile((await watchers.hear(process, changes)).flat(), 0.99);
}

async function measure(process: HttpProcess, era: Era, count: number): Promise<readonly Finding[]> {
  const { server, port } = process;
  const before = await server.owner.memory();
  const start = performance.now();
  const watchers = await Watchers.open(port, era, count);
  const openMs = performance.now() - start;
  let stuck: readonly HttpConnection[] = [];
  try {
    const after = await server.owner.memory();
    const alone = await fanOut(watchers, process);
    stuck = await openStuckReaders(port, era, stuckReaders);
    // Until what they ask for has filled what is between the two processes.
    await sleep(1_000);
    const beside = await fanOut(watchers, process);
    const about = `${count} streams (${era})`;
    return [
      { what: `opening ${about}, ms`, found: openMs, limit: limits.openMs },
      {
        what: `heap each of ${about}, KB`,
        found: (after.heapUsed - before.heapUsed) / count / 1_024,
        limit: limits.heapKb,
      },
      { what: `fan-out p99 to ${about}, ms`, found: alone, limit: limits.fanOutMs },
      {
        what: `the same beside ${stuckReaders} stuck readers, times as long (${era})`,
        found: beside / alone,
        limit: limits.slowdown,
      },
    ];
  } finally {
    watchers.close();
    for (const connection of stuck) connection.close();
  }
}

/** How many sessions and streams a server is given for so many streams: those of the warm-up may not be gone yet. */
export function capFor(count: number): number {
  return count + stuckReaders + warmStreams + 1;
}

/** Opens so many streams at a server of its own, and has one change told to all of them, again and again. */
export async function loadStreams(args: readonly string[], era: Era, count: number): Promise<readonly Finding[]> {
  const process = await startHttp([...args, "--most", String(capFor(count))]);
  try {
    await warmUp(process, era);
    return await measure(process, era, count);
  } finally {
    await process.server.stop();
  }
}

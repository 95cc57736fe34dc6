import { type Commands, type Side, sides } from "../driver/open-session.ts";
import { type Era, questions } from "../driver/requests.ts";
import { openAll, openClient, openSessionOn, openStream } from "../http/http-client.ts";
import { HttpConnection } from "../http/http-connection.ts";
import { type HttpProcess, startHttp } from "../http/http-process.ts";
import type { Sender } from "../http/http-requests.ts";
import { pumpHttp } from "../http/pump-http.ts";
import { type Figures, type Sample, toSample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

/** How many are opened before anything is counted, and how many are counted then. */
const before = 100;
const counted = 600;

/**
 * Where Node keeps what is young grows to tens of megabytes in a few steps, whoever is measured when it does: it is kept
 * small, so that what is counted is what stays.
 */
const youngKeptSmall = "--max-semi-space-size=1";

/** What one more of something takes of a process, in kilobytes. */
async function costOf({ server }: HttpProcess, what: string, open: () => Promise<unknown>): Promise<Figures> {
  const without = await server.owner.memory();
  await open();
  const { rss, heapUsed } = await server.owner.memory();
  return {
    [`HTTP RSS a ${what}, kB`]: (rss - without.rss) / counted / 1_024,
    [`HTTP heap a ${what}, kB`]: (heapUsed - without.heapUsed) / counted / 1_024,
  };
}

/** Sessions alone share one connection: what is counted is what the server keeps of each. */
async function openSessions(port: number, count: number): Promise<readonly Sender[]> {
  const connection = await HttpConnection.open(port);
  const senders: Sender[] = [];
  for (let index = 0; index < count; index += 1) senders.push(await openSessionOn(connection, { era: "legacy" }));
  connection.close();
  return senders;
}

/** A stream has a connection of its own; and where the era has sessions, a session that was there before. */
async function openStreams(port: number, senders: readonly Sender[]): Promise<readonly HttpConnection[]> {
  return openAll(senders.length, async (index) => {
    const connection = await HttpConnection.open(port);
    await openStream({ connection, sender: senders[index] ?? { era: "modern" } }, () => {});
    return connection;
  });
}

async function takeFigures(process: HttpProcess, era: Era): Promise<Figures> {
  const { port } = process;
  const modern = (count: number): readonly Sender[] => Array.from({ length: count }, () => ({ era }));
  // What every path takes once is not counted.
  const warm = await openClient(port, { era });
  await pumpHttp([warm], questions.echo, 500);
  const first = era === "legacy" ? await openSessions(port, before) : modern(before);
  const connections = [...(await openStreams(port, first)), warm.connection];
  try {
    let senders = modern(counted);
    const open = async (): Promise<unknown> => (senders = await openSessions(port, counted));
    const session = era === "legacy" ? await costOf(process, "session", open) : {};
    const stream = await costOf(process, "stream", async () => connections.push(...(await openStreams(port, senders))));
    return { ...session, ...stream };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** One round of what sessions and streams take of a fresh process a side. */
export async function measureHttpMemory(commands: Commands, era: Era, round: number): Promise<Sample> {
  const most = String(before + counted + 1);
  const { ours, written } = await takeTurns(round, sides, async (side: Side) => {
    const process = await startHttp([youngKeptSmall, ...commands[side], "--era", era, "--most", most]);
    try {
      return await takeFigures(process, era);
    } finally {
      await process.server.stop();
    }
  });
  return toSample(ours, written, ` (${era})`);
}

import type { CompiledServers } from "../compile-servers.ts";
import { openSession } from "../driver/open-session.ts";
import { pump } from "../driver/pump.ts";
import { readCpuTime } from "../driver/read-cpu-time.ts";
import { questions, toRequest } from "../driver/requests.ts";
import type { ServerProcess } from "../driver/server-process.ts";
import { openAll, openClient, openSessionOn } from "../http/http-client.ts";
import { HttpConnection } from "../http/http-connection.ts";
import { startHttp } from "../http/http-process.ts";
import { pumpHttp } from "../http/pump-http.ts";
import type { Pair, Sample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

/** A server that has a number of something, ready for calls. The caller stops it. */
interface Scaled {
  readonly server: ServerProcess;
  readonly call: (total: number) => Promise<unknown>;
}

/** The least of something, to which the others are compared; also the number of clients over HTTP. */
const least = 10;
const larger = [1_000, 10_000] as const;
const largest = 10_000;

async function openTools({ stdio }: CompiledServers, size: number): Promise<Scaled> {
  const server = await openSession([...stdio.ours, "--tools", String(size)], "modern");
  const request = toRequest(questions.echo, "modern");
  return { server, call: (total) => pump(server, { total, inFlight: 32, request }) };
}

/** Requests name `inUse` of the views in turn. */
async function openViews({ http }: CompiledServers, size: number, inUse: number): Promise<Scaled> {
  const { server, port } = await startHttp([...http.ours, "--views", String(size)]);
  const views = Array.from({ length: inUse }, (_, index) => `view_${(index * size) / inUse}`);
  const clients = await openAll(least, () => openClient(port, { era: "modern", views }));
  return { server, call: (total) => pumpHttp(clients, questions.echo, total) };
}

/** Calls come in ten of the sessions; the others are open. */
async function openSessions({ http }: CompiledServers, size: number): Promise<Scaled> {
  const { server, port } = await startHttp([...http.ours, "--most", String(largest)]);
  const clients = await openAll(least, () => openClient(port, { era: "legacy" }));
  const connection = await HttpConnection.open(port);
  for (let open = least; open < size; open += 1) await openSessionOn(connection, { era: "legacy" });
  connection.close();
  return { server, call: (total) => pumpHttp(clients, questions.echo, total) };
}

const kinds = [
  { what: "tools", open: openTools, total: 8_000 },
  { what: "views", open: (servers: CompiledServers, size: number) => openViews(servers, size, least), total: 2_500 },
  {
    what: "views in turn",
    open: (servers: CompiledServers, size: number) => openViews(servers, size, size),
    total: 2_500,
  },
  { what: "sessions", open: openSessions, total: 2_500 },
] as const;

/** The CPU time of one call, in microseconds. `NaN` where the operating system does not tell. */
async function costOf({ server, call }: Scaled, total: number): Promise<number> {
  const before = readCpuTime(server.pid) ?? Number.NaN;
  await call(total);
  return ((readCpuTime(server.pid) ?? Number.NaN) - before) / total;
}

async function measureKind(
  servers: CompiledServers,
  { what, open, total }: (typeof kinds)[number],
  rounds: number,
): Promise<Sample[]> {
  const opened = new Map<string, Scaled>();
  try {
    for (const size of [least, ...larger]) opened.set(String(size), await open(servers, size));
    // Enough for the compiler inside Node to have seen every path.
    for (const scaled of opened.values()) await scaled.call(total * 2);
    const samples: Sample[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const costs = await takeTurns(round, [...opened.keys()], async (size) => {
        const scaled = opened.get(size);
        return scaled === undefined ? Number.NaN : costOf(scaled, total);
      });
      const toPair = (size: number): Pair => ({ ours: costs[size] ?? Number.NaN, base: costs[least] ?? Number.NaN });
      const figure = (size: number): string => `scale: CPU a call with ${size.toLocaleString("en-US")} ${what}, µs`;
      samples.push(new Map(larger.map((size) => [figure(size), toPair(size)])));
    }
    return samples;
  } finally {
    await Promise.all([...opened.values()].map(({ server }) => server.stop()));
  }
}

/** Measures a call with 1,000 and 10,000 tools, views and sessions against a call with ten, in rounds of turns. */
export async function measureScale(servers: CompiledServers, rounds: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const kind of kinds) {
    process.stderr.write(`scale: ${kind.what}, ${rounds} rounds\n`);
    samples.push(...(await measureKind(servers, kind, rounds)));
  }
  return samples;
}

import { type Commands, type Side, sides } from "../driver/open-session.ts";
import { readCpuTime } from "../driver/read-cpu-time.ts";
import { type Era, questions } from "../driver/requests.ts";
import { type HttpClient, openAll, openClient } from "../http/http-client.ts";
import { type HttpProcess, startHttp } from "../http/http-process.ts";
import { pumpHttp } from "../http/pump-http.ts";
import { quantile } from "../report/statistics.ts";
import { type Figures, type Pair, type Sample, toSample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

interface Opened {
  readonly process: HttpProcess;
  /** Each with a connection of its own, which is kept, and with a session of its own where the era has some. */
  readonly clients: readonly HttpClient[];
}

type Step = (opened: Opened) => Promise<Figures>;

const sessions = 32;

function perSecond(total: number, elapsedMs: number): number {
  return (total * 1_000) / elapsedMs;
}

/** Enough for the compiler inside Node to have seen every path. Nothing of it is counted. */
const warmUp: Step = async ({ clients }) => {
  await pumpHttp(clients, questions.echo, 4_000);
  await pumpHttp(clients, questions.read, 1_000);
  await pumpHttp(clients, questions.big, 200);
  return {};
};

const oneAtATime: Step = async ({ clients }) => {
  const { latenciesMs } = await pumpHttp(clients.slice(0, 1), questions.echo, 600);
  return { "HTTP call p50, µs": quantile(latenciesMs, 0.5) * 1_000 };
};

const manyAtATime: Step = async ({ process: { server }, clients }) => {
  const total = 5_000;
  const before = readCpuTime(server.pid);
  const { elapsedMs, latenciesMs } = await pumpHttp(clients, questions.echo, total);
  const after = readCpuTime(server.pid);
  return {
    [`HTTP calls /s, ${sessions} sessions`]: perSecond(total, elapsedMs),
    [`HTTP call p50, ${sessions} sessions, ms`]: quantile(latenciesMs, 0.5),
    [`HTTP call p99, ${sessions} sessions, ms`]: quantile(latenciesMs, 0.99),
    "HTTP CPU a call, µs": before === undefined || after === undefined ? undefined : (after - before) / total,
  };
};

const reads: Step = async ({ clients }) => {
  const total = 2_000;
  const { elapsedMs } = await pumpHttp(clients, questions.read, total);
  return { [`HTTP reads /s, ${sessions} sessions`]: perSecond(total, elapsedMs) };
};

const largeResults: Step = async ({ clients }) => {
  const total = 500;
  const { elapsedMs } = await pumpHttp(clients, questions.big, total);
  return { "HTTP 10 kB results /s": perSecond(total, elapsedMs) };
};

const steps: readonly Step[] = [warmUp, oneAtATime, manyAtATime, reads, largeResults];

/** One round of calls over HTTP on a fresh process a side, warmed up first. */
export async function measureHttpCalls(commands: Commands, era: Era, round: number): Promise<Sample> {
  const started: HttpProcess[] = [];
  const open = async (side: Side): Promise<Opened> => {
    const process = await startHttp([...commands[side], "--era", era]);
    started.push(process);
    return { process, clients: await openAll(sessions, () => openClient(process.port, { era })) };
  };
  try {
    const opened: Readonly<Record<Side, Opened>> = { ours: await open("ours"), written: await open("written") };
    const found: [string, Pair][] = [];
    for (const step of steps) {
      const { ours, written } = await takeTurns(round, sides, (side) => step(opened[side]));
      found.push(...toSample(ours, written, ` (${era})`));
    }
    for (const { clients } of Object.values(opened)) for (const { connection } of clients) connection.close();
    return new Map(found);
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}

import { readCpuTime } from "../driver/read-cpu-time.ts";
import { type Era, questions } from "../driver/requests.ts";
import { type HttpClient, openAll, openClient } from "../http/http-client.ts";
import { type HttpProcess, startHttp } from "../http/http-process.ts";
import { type LivePage, openPage } from "../http/live-page.ts";
import { pumpHttp } from "../http/pump-http.ts";
import { type Figures, type Sample, toSample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

/** A server without the live page, one that serves it, and one whose page is open. */
const sides = ["without", "inspector", "page"] as const;

type Side = (typeof sides)[number];

interface Opened {
  readonly process: HttpProcess;
  readonly clients: readonly HttpClient[];
  readonly page: LivePage | undefined;
}

const sessions = 32;

/** Calls until the compiler inside Node has done most of its work. With fewer its CPU, on other threads, counts. */
const warmUp = 20_000;

/** Calls of one turn, and turns of one round. Their sums are compared: the page costs nothing in most short turns. */
const total = 1_000;
const turns = 30;

async function open(process: HttpProcess, side: Side, era: Era): Promise<Opened> {
  const clients = await openAll(sessions, () => openClient(process.port, { era }));
  const page = side === "page" && process.page !== undefined ? await openPage(process.page) : undefined;
  await pumpHttp(clients, questions.echo, warmUp);
  return { process, clients, page };
}

/** Runs one turn. Resolves with its CPU time in microseconds and its milliseconds. */
async function take({ process: { server }, clients }: Opened): Promise<readonly [cpu: number, ms: number]> {
  const before = readCpuTime(server.pid) ?? Number.NaN;
  const { elapsedMs } = await pumpHttp(clients, questions.echo, total);
  return [(readCpuTime(server.pid) ?? Number.NaN) - before, elapsedMs];
}

/** One round on a fresh process a side: the cost of the live page for calls over HTTP, once while it is open. */
export async function measureInspector(args: readonly string[], era: Era, round: number): Promise<Sample> {
  const started: HttpProcess[] = [];
  const start = async (side: Side): Promise<Opened> => {
    const process = await startHttp([...args, ...(side === "without" ? [] : ["--inspector"])]);
    started.push(process);
    return open(process, side, era);
  };
  try {
    const opened = await takeTurns(round, sides, start);
    const seen = opened.page.page?.updates;
    const taken: Readonly<Record<Side, { cpu: number; ms: number }>> = {
      without: { cpu: 0, ms: 0 },
      inspector: { cpu: 0, ms: 0 },
      page: { cpu: 0, ms: 0 },
    };
    for (let turn = 0; turn < turns; turn += 1) {
      await takeTurns(turn, sides, async (side) => {
        const [cpu, ms] = await take(opened[side]);
        taken[side].cpu += cpu;
        taken[side].ms += ms;
      });
    }
    if (opened.page.page?.updates === seen) throw new Error("Benchmark: the live page got no update");
    for (const { clients, page } of Object.values(opened)) {
      page?.close();
      for (const { connection } of clients) connection.close();
    }
    const figures = (side: Side, what: string): Figures => ({
      [`${what}: CPU a call, µs`]: taken[side].cpu / (total * turns),
      [`${what}: calls /s`]: (total * turns * 1_000) / taken[side].ms,
    });
    const toRows = (side: Side, what: string): Sample =>
      toSample(figures(side, what), figures("without", what), ` (${era})`);
    return new Map([...toRows("inspector", "inspector"), ...toRows("page", "live page open")]);
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}

import type { CompiledServers } from "../compile-servers.ts";
import { openSession, type Side, sides } from "../driver/open-session.ts";
import { pump } from "../driver/pump.ts";
import { readCpuTime } from "../driver/read-cpu-time.ts";
import { type Era, questions, toRequest } from "../driver/requests.ts";
import type { ServerProcess } from "../driver/server-process.ts";
import { quantile } from "../report/statistics.ts";
import { type Figures, type OwnSamples, type Pair, toSample } from "./sample.ts";
import { takeTurns } from "./take-turns.ts";

type Step = (server: ServerProcess, era: Era) => Promise<Figures>;

const inFlight = 32;

function perSecond(total: number, elapsedMs: number): number {
  return (total * 1_000) / elapsedMs;
}

/** Until the compiler inside Node is done: its threads count as CPU of the process. Nothing of it is counted. */
const warmUp: Step = async (server, era) => {
  await pump(server, { total: 20_000, inFlight, request: toRequest(questions.echo, era) });
  await pump(server, { total: 400, inFlight, request: toRequest(questions.big, era) });
  await pump(server, { total: 10_000, inFlight, request: toRequest(questions.read, era) });
  return {};
};

const oneAtATime: Step = async (server, era) => {
  const request = toRequest(questions.echo, era);
  // The load changes, so the compiler compiles again: on two cores that delays one call in a hundred by a millisecond.
  await pump(server, { total: 2_000, inFlight: 1, request });
  const { latenciesMs } = await pump(server, { total: 4_000, inFlight: 1, request });
  return { "call p50, µs": quantile(latenciesMs, 0.5) * 1_000, "call p99, µs": quantile(latenciesMs, 0.99) * 1_000 };
};

const manyAtATime: Step = async (server, era) => {
  const total = 32_000;
  const before = readCpuTime(server.pid);
  const { elapsedMs } = await pump(server, { total, inFlight, request: toRequest(questions.echo, era) });
  const after = readCpuTime(server.pid);
  return {
    "calls /s, 32 in flight": perSecond(total, elapsedMs),
    "CPU a call, µs": before === undefined || after === undefined ? undefined : (after - before) / total,
  };
};

const largeResults: Step = async (server, era) => {
  const total = 1_000;
  const { elapsedMs } = await pump(server, { total, inFlight, request: toRequest(questions.big, era) });
  return { "10 kB results /s": perSecond(total, elapsedMs) };
};

const reads: Step = async (server, era) => {
  const total = 16_000;
  const { elapsedMs } = await pump(server, { total, inFlight, request: toRequest(questions.read, era) });
  return { "reads /s": perSecond(total, elapsedMs) };
};

const steps: readonly Step[] = [warmUp, oneAtATime, manyAtATime, largeResults, reads];

/** Measures calls of a server that does nothing else, with the same client. */
async function measureFloor(bareLoop: readonly string[], era: Era): Promise<Figures> {
  const server = await openSession(bareLoop, era);
  try {
    await pump(server, { total: 20_000, inFlight, request: toRequest(questions.echo, era) });
    return await manyAtATime(server, era);
  } finally {
    await server.stop();
  }
}

/** One round of calls and reads on a fresh process a side, warmed up first, and of calls of the bare loop. */
export async function measureCalls(
  { stdio: commands, bareLoop }: Pick<CompiledServers, "stdio" | "bareLoop">,
  era: Era,
  round: number,
): Promise<OwnSamples> {
  const servers: Partial<Record<Side, ServerProcess>> = {};
  try {
    const ours = (servers.ours = await openSession(commands.ours, era));
    const written = (servers.written = await openSession(commands.written, era));
    const sessions: Readonly<Record<Side, ServerProcess>> = { ours, written };
    const found: [string, Pair][] = [];
    const own = new Map<string, Pair>();
    for (const step of steps) {
      const figures = await takeTurns(round, sides, (side) => step(sessions[side], era));
      found.push(...toSample(figures.ours, figures.written, ` (${era})`));
      if (step !== manyAtATime) continue;
      const floor = await measureFloor(bareLoop, era);
      for (const [name, pair] of toSample(floor, figures.written, ` (${era})`)) own.set(`bare loop: ${name}`, pair);
    }
    return { written: new Map(found), own };
  } finally {
    await Promise.all([servers.ours?.stop(), servers.written?.stop()]);
  }
}

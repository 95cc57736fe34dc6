import { cpus, loadavg } from "node:os";
import { questions } from "../driver/requests.ts";
import type { HttpProcess } from "../http/http-process.ts";
import { pumpHttp } from "../http/pump-http.ts";
import { takeTurns } from "../measure/take-turns.ts";
import { median, quantile } from "../report/statistics.ts";
import { toMarkdown } from "../report/to-markdown.ts";
import { RedisServer } from "../../examples/cluster/start.ts";
import { RedisMeter } from "./redis-meter.ts";
import { measureUnits } from "./replica-units.ts";
import { startReplicas, withClients } from "./replicas.ts";
import { costOf, medianCost, toText, type UnitCost } from "./unit-cost.ts";

const rounds = 3;
const calls = 3_000;

/** The arguments of the replicas that are compared. */
const ways = {
  "no cluster": [],
  "cluster, no limit": ["--prefix", "unlimited", "--unlimited"],
  cluster: ["--prefix", "limited"],
} as const;

async function startAll(
  redis: RedisMeter,
  args: readonly string[],
  count: number,
): Promise<Map<string, readonly HttpProcess[]>> {
  const all = new Map<string, readonly HttpProcess[]>();
  for (const [way, options] of Object.entries(ways)) {
    const replicas = await startReplicas([...args, "--redis", redis.socket, ...options], count);
    all.set(way, replicas);
    await withClients(replicas, "modern", (clients) => pumpHttp(clients, questions.echo, calls * count));
  }
  return all;
}

async function measureCalls(redis: RedisMeter, args: readonly string[], count: number): Promise<readonly string[][]> {
  const all = await startAll(redis, args, count);
  const found = new Map<string, { cost: UnitCost; p99: number }[]>();
  for (let round = 0; round < rounds; round += 1) {
    await takeTurns(round, [...all.keys()], async (way) => {
      const replicas = all.get(way) ?? [];
      let p99 = Number.NaN;
      const cost = await withClients(replicas, "modern", (clients) =>
        costOf({ redis, replicas }, calls, async () => {
          p99 = quantile((await pumpHttp(clients, questions.echo, calls)).latenciesMs, 0.99);
        }),
      );
      found.set(way, [...(found.get(way) ?? []), { cost, p99 }]);
    });
  }
  await Promise.all([...all.values()].flat().map(({ server }) => server.stop()));
  return [...found].map(([way, samples]) => {
    const cost = medianCost(samples.map((sample) => sample.cost));
    const figures = ["per second", "replicas CPU, µs", "Redis CPU, µs"].map((name) => toText(cost.get(name)));
    return [String(count), way, ...figures, toText(median(samples.map(({ p99 }) => p99)))];
  });
}

/** Measures calls with each number of replicas, and each kind of work of two. Prints tables. Resolves with the code to end with. */
export async function loadReplicas(args: readonly string[], counts: readonly number[]): Promise<number> {
  const started = await RedisServer.start();
  if (started === undefined) {
    process.stderr.write(
      "Cannot start Redis: redis-server is not installed; install it, on Debian by: apt-get install redis-server\n",
    );
    return 1;
  }
  const redis = new RedisMeter(started.socket);
  try {
    const load = loadavg().map((value) => value.toFixed(1));
    process.stdout.write(
      `${cpus().length} processors; load average before: ${load.join(", ")}. Medians of ${rounds} rounds.\n\n`,
    );
    const rows: (readonly string[])[] = [];
    for (const count of counts) {
      process.stderr.write(`${count} replicas: ${rounds} rounds of ${calls} calls, three ways\n`);
      rows.push(...(await measureCalls(redis, args, count)));
    }
    const heads = ["replicas", "way", "calls a second", "replicas CPU a call, µs", "Redis CPU a call, µs", "p99, ms"];
    process.stdout.write(`${toMarkdown(heads, rows)}\n\n`);
    const replicas = await startReplicas([...args, "--redis", redis.socket, ...ways.cluster], 2);
    process.stdout.write(`${await measureUnits(redis, replicas, ways.cluster[1])}\n`);
    await Promise.all(replicas.map(({ server }) => server.stop()));
    return 0;
  } finally {
    redis.close();
    await started.close();
  }
}

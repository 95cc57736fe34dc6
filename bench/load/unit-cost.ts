import { readCpuTime } from "../driver/read-cpu-time.ts";
import type { HttpProcess } from "../http/http-process.ts";
import { median } from "../report/statistics.ts";
import type { RedisMeter } from "./redis-meter.ts";

/** The cost of one operation, by the name of a figure. Those of Redis commands begin with "redis ". */
export type UnitCost = ReadonlyMap<string, number>;

/** The figures of a row that are not commands, in the order of their columns. */
export const unitFigures = ["bytes in", "bytes out", "Redis CPU, µs", "replicas CPU, µs"] as const;

async function readAll(redis: RedisMeter, replicas: readonly HttpProcess[]): Promise<Map<string, number>> {
  const { commands, bytesIn, bytesOut, cpuUs } = await redis.counts();
  const replicasUs = replicas.reduce((sum, { server }) => sum + (readCpuTime(server.pid) ?? Number.NaN), 0);
  const figures = [bytesIn, bytesOut, cpuUs, replicasUs].map((value, at) => [unitFigures[at] ?? "", value] as const);
  return new Map([...figures, ...[...commands].map(([name, count]) => [`redis ${name}`, count] as const)]);
}

/** Measures work of `count` operations. `rest` is the cost of a second without work, which is subtracted. */
export async function costOf(
  { redis, replicas, rest }: { redis: RedisMeter; replicas: readonly HttpProcess[]; rest?: UnitCost | undefined },
  count: number,
  work: () => Promise<unknown>,
): Promise<UnitCost> {
  const before = await readAll(redis, replicas);
  const start = performance.now();
  await work();
  const seconds = (performance.now() - start) / 1_000;
  const after = await readAll(redis, replicas);
  const cost = new Map([["per second", count / seconds]]);
  for (const [name, value] of after)
    cost.set(name, (value - (before.get(name) ?? 0) - seconds * (rest?.get(name) ?? 0)) / count);
  return cost;
}

/** Returns the median of each figure. */
export function medianCost(costs: readonly UnitCost[]): UnitCost {
  const names = new Set(costs.flatMap((cost) => [...cost.keys()]));
  return new Map([...names].map((name) => [name, median(costs.map((cost) => cost.get(name) ?? 0))]));
}

/** Writes a number with three digits. */
export function toText(value = Number.NaN): string {
  return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 2 });
}

/** Returns the cells of a row: the commands, then the figures. */
export function toCells(what: string, cost: UnitCost): readonly string[] {
  const commands = [...cost].filter(([name, count]) => name.startsWith("redis ") && count >= 0.05);
  const written = commands.map(([name, count]) => `${name.slice(6)} ${toText(count)}`).join(", ");
  return [what, written, ...unitFigures.map((name) => toText(cost.get(name)))];
}

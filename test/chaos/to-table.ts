import type { Tally } from "./tally.ts";

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  const [median, late, last] = [0.5, 0.99, 1].map((share) => Math.round(quantile(sorted, share)));
  return `${median} / ${late} / ${last} ms`;
}

function counts(map: ReadonlyMap<string, number>): [string, string][] {
  return [...map].toSorted(([one], [other]) => one.localeCompare(other)).map(([name, count]) => [name, figure(count)]);
}

function figure(count: number): string {
  return count.toLocaleString("en");
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? "unknown" : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The figures of a run, a line each. */
export function toTable(tally: Tally, elapsedMs: number): string {
  const [first] = tally.figures;
  const last = tally.figures.at(-1);
  // By then everything that is loaded and compiled once has been.
  const tenth = tally.figures[Math.floor(tally.cycles / 10)];
  const rows: [string, string][] = [
    ["cycles", figure(tally.cycles)],
    ...counts(tally.strikes).map(([name, count]): [string, string] => [`  ${name}`, count]),
    ["  next backend took over 3 s", figure(tally.slowStarts)],
    ["calls in flight at a strike, least", figure(tally.leastInFlight)],
    ["reads", figure(tally.reads)],
    ["  failed", figure(tally.failedReads)],
    ["  older than a read before", figure(tally.staleReads)],
    ["mutations", figure([...tally.mutations.values()].reduce((sum, count) => sum + count, 0))],
    ...counts(tally.mutations).map(([name, count]): [string, string] => [`  ${name}`, count]),
    ["  applied twice", figure(tally.duplicates)],
    ["notices", figure(tally.notices)],
    ["strike to first answer, p50/p99/max", spread(tally.outagesMs)],
    ["restart to first answer, p50/p99/max", spread(tally.restartsMs)],
    ["listening to first answer, p50/p99/max", spread(tally.redialsMs)],
    [
      "memory of the face, first/tenth/last",
      [first, tenth, last].map((figures) => megabytes(figures?.rss)).join(" / "),
    ],
    ["open files of the face, first/last", `${first?.files ?? "unknown"} / ${last?.files ?? "unknown"}`],
    ["duration", `${(elapsedMs / 1000).toFixed(1)} s`],
  ];
  return rows.map(([name, value]) => `${name.padEnd(40)}${value.padStart(32)}`).join("\n");
}

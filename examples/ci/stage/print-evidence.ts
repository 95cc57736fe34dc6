import { sumOf, totalOf } from "../agent/phases.ts";
import type { Tally } from "../agent/phases.ts";
import type { Printer } from "../agent/printer.ts";
import type { JournalLine } from "../engine/journal-line.ts";
import { toRunHistory } from "./run-history.ts";
import type { CommandHistory } from "./run-history.ts";
import type { AgentReport } from "./start-agent.ts";
import type { Strike } from "./strike.ts";

/** What there is to show for it. */
export interface Evidence {
  readonly report: AgentReport;
  readonly journal: readonly JournalLine[];
  /** Left out where nobody was killed. */
  readonly strike: Strike | undefined;
}

type Observed = AgentReport["testimony"]["observed"][number];

/** Prints what a client saw of the kill, and what the journal says was run. */
export function printEvidence({ report, journal, strike }: Evidence, printer: Printer): void {
  const { paint } = printer;
  printer.details([
    "",
    paint("strong", strike === undefined ? "What a client saw" : "What a client saw of the kill"),
    ...toOutage(strike),
    ...toReads(report, printer),
    ...toObserved(report, strike, printer),
    "",
    paint("strong", "What the journal says was run"),
    ...toHistory(journal),
  ]);
}

function toOutage(strike: Strike | undefined): readonly string[] {
  if (strike === undefined) return ["  outage    none: nobody was killed"];
  const { killed, started, outageMs } = strike;
  return [`  outage    ${toSeconds(outageMs)}, from the kill of ${killed} until ${started.pid} could be reached`];
}

function toReads({ testimony: { reads, failures, slowestMs } }: AgentReport, { paint }: Printer): readonly string[] {
  const failed = paint(failures.length === 0 ? "good" : "bad", `${failures.length} failed`);
  return [
    `  reads     ${totalOf(reads)} (${inPhases(reads)}), ${failed}; the slowest took ${toSeconds(slowestMs)}`,
    ...failures.slice(0, 3).map((reason) => `            ${paint("bad", reason)}`),
  ];
}

/** The resource of all nodes and the logs of those that were cut off, a line each, and all other logs in one. */
function toObserved({ testimony }: AgentReport, strike: Strike | undefined, printer: Printer): readonly string[] {
  const [nodes, ...logs] = testimony.observed;
  const isCut = ({ uri }: Observed): boolean => strike?.interrupted.some((id) => uri.endsWith(`/${id}`)) === true;
  const others = logs.filter((log) => !isCut(log));
  const rest: Observed = {
    uri: `${others.length} other logs`,
    notices: others.map(({ notices }) => notices).reduce(sumOf, { before: 0, during: 0, after: 0 }),
    lastAnnounced: others.every(({ lastAnnounced }) => lastAnnounced),
  };
  const shown = [...(nodes ? [nodes] : []), ...logs.filter(isCut), ...(others.length === 0 ? [] : [rest])];
  return shown.map((one) => toNotices(one, printer));
}

function toNotices({ uri, notices, lastAnnounced }: Observed, { paint }: Printer): string {
  const last = lastAnnounced ? paint("good", "last value announced") : paint("bad", "last value not announced");
  return `  notices   ${totalOf(notices)} of ${uri} (${inPhases(notices)}), ${last}`;
}

function toHistory(journal: readonly JournalLine[]): readonly string[] {
  const { run, starts, settled, commands } = toRunHistory(journal);
  const once = commands.filter((command) => command.starts === 1).map(({ node }) => node);
  return [
    `  run ${run}     started ${toTimes(starts)}, settled ${toTimes(settled)}`,
    `  once      ${once.length === 0 ? "nothing" : once.join(", ")}`,
    ...commands.filter((command) => command.starts > 1).map(toRepeated),
  ];
}

function toRepeated({ node, starts, interrupted, reruns }: CommandHistory): string {
  const cut = interrupted > 0 ? [`cut off by the kill ${toTimes(interrupted)}`] : [];
  const again = reruns > 0 ? [`rerun by the agent ${toTimes(reruns)}`] : [];
  return `  ${toTimes(starts).padEnd(8)}  ${node}: ${[...cut, ...again].join(", ")}`;
}

function toTimes(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

function inPhases({ before, during, after }: Tally): string {
  return `${before} before the kill, ${during} in the outage, ${after} after`;
}

function toSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/**
 * `npm run bench [-- --quick] [-- --only stdio|http|inspector|gateway|scale]`: the server under test against one written by hand on the
 * same SDK, and against itself in other circumstances, in one run, turn by turn. Prints two tables of medians and one of goals;
 * ends with code 1 when a budget is broken, except with `--quick`. docs/performance.md says how to read them.
 */
import { parseArgs } from "node:util";
import { compileServers, type CompiledServers } from "./compile-servers.ts";
import type { Commands } from "./driver/open-session.ts";
import { eras } from "./driver/requests.ts";
import { checkSame } from "./measure/check-same.ts";
import { measureBridge } from "./measure/measure-bridge.ts";
import { measureBursts } from "./measure/measure-bursts.ts";
import { measureCalls } from "./measure/measure-calls.ts";
import { measureGateway } from "./measure/measure-gateway.ts";
import { measureHttpCalls } from "./measure/measure-http-calls.ts";
import { measureHttpFanOut, watchers } from "./measure/measure-http-fan-out.ts";
import { measureHttpMemory } from "./measure/measure-http-memory.ts";
import { measureInspector } from "./measure/measure-inspector.ts";
import { measureLists } from "./measure/measure-lists.ts";
import { changesARound, measureNotices } from "./measure/measure-notices.ts";
import { measureScale } from "./measure/measure-scale.ts";
import { measureStart } from "./measure/measure-start.ts";
import type { OwnSamples, Sample } from "./measure/sample.ts";
import { summarise } from "./report/summarise.ts";
import { toGoalTable, toTable } from "./report/to-table.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
});
const rounds = values.quick
  ? {
      starts: 5,
      calls: 3,
      lists: 2,
      notices: 1,
      changes: 20,
      bursts: 1,
      bridge: 2,
      http: 3,
      memory: 1,
      fanOut: 1,
      inspector: 1,
      gateway: 1,
      scale: 3,
    }
  : {
      starts: 20,
      calls: 7,
      lists: 5,
      notices: 3,
      changes: changesARound,
      bursts: 1,
      bridge: 3,
      http: 7,
      memory: 3,
      fanOut: 3,
      inspector: 7,
      gateway: 3,
      scale: 9,
    };

async function repeat<TSample>(
  what: string,
  count: number,
  measure: (round: number) => Promise<TSample>,
): Promise<TSample[]> {
  const samples: TSample[] = [];
  for (let round = 0; round < count; round += 1) {
    process.stderr.write(`${what}: round ${round + 1} of ${count}\n`);
    samples.push(await measure(round));
  }
  return samples;
}

const samples: Sample[] = [];
/** Ours against itself, and against what the design allows. */
const own: Sample[] = [];

/** Keeps samples that are compared with two things. */
function keep(found: readonly OwnSamples[]): void {
  samples.push(...found.map(({ written }) => written));
  own.push(...found.map((sample) => sample.own));
}

async function measureStdio(servers: CompiledServers): Promise<void> {
  const commands = servers.stdio;
  // Not counted: the first start reads every file from the disk.
  await measureStart(commands, 0);
  samples.push(
    ...(await repeat("cold starts", rounds.starts, (round) => measureStart(commands, round))),
    ...(await repeat("lists", rounds.lists, (round) => measureLists(commands, round))),
  );
  for (const era of eras) {
    keep(await repeat(`calls, ${era}`, rounds.calls, (round) => measureCalls(servers, era, round)));
  }
  samples.push(
    ...(await repeat("notices", rounds.notices, (round) => measureNotices(commands, round, rounds.changes))),
  );
  for (const era of eras) {
    keep(await repeat(`bursts, ${era}`, rounds.bursts, (round) => measureBursts(commands, era, round)));
    keep(await repeat(`bridge, ${era}`, rounds.bridge, (round) => measureBridge(commands, era, round)));
  }
}

async function measureHttp(commands: Commands): Promise<void> {
  process.stderr.write(`HTTP: both servers are given ${watchers} sessions and streams\n`);
  for (const era of eras) {
    const about = `over HTTP, ${era}`;
    samples.push(
      ...(await repeat(`calls ${about}`, rounds.http, (round) => measureHttpCalls(commands, era, round))),
      ...(await repeat(`memory ${about}`, rounds.memory, (round) => measureHttpMemory(commands, era, round))),
      ...(await repeat(`fan-out ${about}`, rounds.fanOut, (round) => measureHttpFanOut(commands, era, round))),
    );
  }
}

/** Returns whether a part is measured: all are, unless one is named. */
function isAsked(part: string): boolean {
  return values.only === undefined || values.only === part;
}

if (!isAsked("gateway") || values.only === undefined) {
  const servers = await compileServers();
  if (isAsked("stdio") || isAsked("http")) await checkSame(servers);
  if (isAsked("stdio")) await measureStdio(servers);
  if (isAsked("http")) await measureHttp(servers.http);
  if (isAsked("inspector")) {
    for (const era of eras) {
      const measure = (round: number): Promise<Sample> => measureInspector(servers.http.ours, era, round);
      own.push(...(await repeat(`live page, ${era}`, rounds.inspector, measure)));
    }
  }
  if (isAsked("scale")) own.push(...(await measureScale(servers, rounds.scale)));
}
if (isAsked("gateway")) own.push(...(await repeat("gateway", rounds.gateway, measureGateway)));

const tables = [
  { rows: summarise(samples), compared: ["ours", "hand-written"] },
  { rows: summarise(own), compared: ["taken", "against"] },
] as const;
for (const { rows, compared } of tables) {
  if (rows.length > 0) process.stdout.write(`${toTable(rows, compared)}\n\n`);
}
const all = tables.flatMap(({ rows }) => rows);
process.stdout.write(`${toGoalTable(all)}\n`);
const over = all.filter(({ verdict }) => verdict === "over");
if (over.length > 0) {
  process.stderr.write(`Over budget: ${over.map(({ figure }) => figure).join("; ")}\n`);
  // A quick run has too few rounds to judge by.
  if (!values.quick) process.exitCode = 1;
}

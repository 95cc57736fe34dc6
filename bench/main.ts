/**
 * `npm run bench [-- --quick]`: the server under test against one written by hand on the same SDK, in one run, turn by
 * turn. Prints a table of medians; ends with code 1 when a budget is broken. docs/performance.md says how to read it.
 */
import { parseArgs } from "node:util";
import { compileServers } from "./compile-servers.ts";
import { eras } from "./driver/requests.ts";
import { checkSame } from "./measure/check-same.ts";
import { measureCalls } from "./measure/measure-calls.ts";
import { measureLists } from "./measure/measure-lists.ts";
import { measureStart } from "./measure/measure-start.ts";
import type { Sample } from "./measure/sample.ts";
import { summarise } from "./report/summarise.ts";
import { toTable } from "./report/to-table.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const rounds = values.quick ? { starts: 5, calls: 3, lists: 2 } : { starts: 20, calls: 9, lists: 5 };

async function repeat(what: string, count: number, measure: (round: number) => Promise<Sample>): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < count; round += 1) {
    process.stderr.write(`${what}: round ${round + 1} of ${count}\n`);
    samples.push(await measure(round));
  }
  return samples;
}

const commands = compileServers();
await checkSame(commands);
// Not counted: the first start reads every file from the disk.
await measureStart(commands, 0);
const samples = [
  ...(await repeat("cold starts", rounds.starts, (round) => measureStart(commands, round))),
  ...(await repeat("lists", rounds.lists, (round) => measureLists(commands, round))),
];
for (const era of eras) {
  samples.push(...(await repeat(`calls, ${era}`, rounds.calls, (round) => measureCalls(commands, era, round))));
}

const rows = summarise(samples);
process.stdout.write(`${toTable(rows)}\n`);
const over = rows.filter(({ verdict }) => verdict === "over").map(({ figure }) => figure);
if (over.length > 0) {
  process.stderr.write(`Over budget: ${over.join("; ")}\n`);
  process.exitCode = 1;
}

import { parseArgs } from "node:util";
import { type ChaosOutcome, runChaos } from "./run-chaos.ts";
import { toTable } from "./to-table.ts";
import { ways } from "./ways.ts";

// `npm run chaos -- --cycles N [--seed S] [--way unix|web|projection]`: real processes, real kills; docs/reliability.md says what is checked.

const { values } = parseArgs({
  options: {
    cycles: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
    way: { type: "string", default: "unix" },
  },
});

const cycles = Number(values.cycles);
const seed = Number(values.seed);
const way = ways.find((one) => one === values.way);
if (way === undefined) throw new Error(`--way must be one of ${ways.join(", ")}, and is "${values.way}"`);

/** More are of no help. */
const maxStories = 5;

function tell({ cycle, violations }: NonNullable<ChaosOutcome["failure"]>): void {
  console.log(`\n${way}, seed ${seed}, cycle ${cycle}: ${violations.length} broken`);
  for (const { check, subject, text, story } of violations.slice(0, maxStories)) {
    console.log(`\n${check}: "${subject}" ${text}`);
    for (const line of story) console.log(`  ${line}`);
  }
}

const started = performance.now();
const { tally, failure } = await runChaos({
  cycles,
  seed,
  way,
  onCycle: (soFar) => {
    if (process.stdout.isTTY) process.stdout.write(`\rcycle ${soFar.cycles} of ${cycles}`);
  },
});
if (process.stdout.isTTY) process.stdout.write("\r\u001B[K");
console.log(toTable(tally, performance.now() - started));
if (failure !== undefined) {
  tell(failure);
  process.exitCode = 1;
}

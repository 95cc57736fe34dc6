import { parseArgs } from "node:util";
import { type ChaosOutcome, runChaos } from "./run-chaos.ts";
import { toTable } from "./to-table.ts";

// `npm run chaos -- --cycles N [--seed S]`: real processes, real kills; docs/reliability.md says what is checked.

const { values } = parseArgs({
  options: { cycles: { type: "string", default: "50" }, seed: { type: "string", default: "1" } },
});

const cycles = Number(values.cycles);
const seed = Number(values.seed);

/** More are of no help. */
const maxStories = 5;

function tell({ cycle, violations }: NonNullable<ChaosOutcome["failure"]>): void {
  console.log(`\nseed ${seed}, cycle ${cycle}: ${violations.length} broken`);
  for (const { check, subject, text, story } of violations.slice(0, maxStories)) {
    console.log(`\n${check}: "${subject}" ${text}`);
    for (const line of story) console.log(`  ${line}`);
  }
}

const started = performance.now();
const { tally, failure } = await runChaos({
  cycles,
  seed,
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

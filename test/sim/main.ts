import { parseArgs } from "node:util";
import { bundleWorker } from "./bundle-worker.ts";
import { runMany } from "./run-many.ts";
import { runSchedule } from "./run-schedule.ts";
import { shrink } from "./shrink.ts";
import type { BatchOutcome } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "99" },
    keep: { type: "string" },
    trace: { type: "boolean", default: false },
  },
});

const seed = Number(values.seed);
const steps = Number(values.steps);
const schedules = Number(values.schedules);

/** The story of one schedule, and what it breaks. */
function tell(failing: number, kept: ReadonlySet<number> | undefined): void {
  const { trace, violation } = runSchedule({
    seed: failing,
    steps,
    isTraced: true,
    ...(kept === undefined ? {} : { kept }),
  });
  console.log(trace.join("\n"));
  console.log(violation === undefined ? "\nnothing is broken" : `\nbroken: ${violation.invariant}: ${violation.text}`);
  if (violation !== undefined) process.exitCode = 1;
}

function report(sum: BatchOutcome, elapsedMs: number): void {
  const figure = (count: number): string => count.toLocaleString("en");
  const rows: [string, string][] = [
    ["schedules", figure(sum.schedules)],
    ["steps", figure(sum.steps)],
    ["schedules/s", figure(Math.round((sum.schedules * 1000) / elapsedMs))],
    ...Object.entries(sum.faults)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([kind, count]): [string, string] => [`  ${kind}`, figure(count)]),
    ["violations", sum.failure === undefined ? "0" : "1 (stopped there)"],
  ];
  for (const [name, value] of rows) console.log(name.padEnd(24), value.padStart(14));
}

async function runAll(): Promise<void> {
  const started = performance.now();
  const onProgress = (sum: BatchOutcome): void => {
    if (process.stdout.isTTY) process.stdout.write(`\r${sum.schedules} of ${schedules}`);
  };
  const sum = await runMany({ script: await bundleWorker(), seed, schedules, steps, onProgress });
  if (process.stdout.isTTY) process.stdout.write("\r\u001B[K");
  report(sum, performance.now() - started);
  if (sum.failure === undefined) return;
  const kept = shrink({ seed: sum.failure.seed, steps });
  console.log(`\nseed ${sum.failure.seed}, made shorter:\n`);
  tell(sum.failure.seed, kept);
  const rest = steps === 99 ? "" : ` --steps ${steps}`;
  console.log(`again: npm run sim -- --seed ${sum.failure.seed}${rest} --keep ${[...kept].join(",")}`);
}

if (values.keep !== undefined) tell(seed, new Set(values.keep.split(",").map(Number)));
else if (values.trace) tell(seed, undefined);
else await runAll();

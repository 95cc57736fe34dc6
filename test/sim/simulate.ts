import { type Outcome, runSchedule } from "./run-schedule.ts";

/** A run of consecutive seeds. */
export interface Batch {
  readonly seed: number;
  readonly count: number;
  readonly steps: number;
}

/** What came of a batch. It ends with the first schedule that breaks a promise. */
export interface BatchOutcome {
  readonly schedules: number;
  readonly steps: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly failure: { readonly seed: number; readonly invariant: string; readonly text: string } | undefined;
}

/** Runs one schedule after the other, until one breaks a promise. */
export function simulate(batch: Batch): BatchOutcome {
  const faults: Record<string, number> = {};
  let steps = 0;
  for (let at = 0; at < batch.count; at += 1) {
    const seed = batch.seed + at;
    const outcome: Outcome = runSchedule({ seed, steps: batch.steps });
    steps += outcome.steps;
    for (const [kind, count] of Object.entries(outcome.faults)) faults[kind] = (faults[kind] ?? 0) + count;
    const { violation } = outcome;
    if (violation !== undefined) return { schedules: at + 1, steps, faults, failure: { seed, ...violation } };
  }
  return { schedules: batch.count, steps, faults, failure: undefined };
}

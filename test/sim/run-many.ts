import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Batch, BatchOutcome } from "./simulate.ts";

/** What to run on how many cores. */
export interface ManyPlan {
  /** The script of a worker. */
  readonly script: string;
  readonly seed: number;
  readonly schedules: number;
  readonly steps: number;
  /** Default: all there are. */
  readonly workers?: number;
  /** Told after each batch. */
  readonly onProgress?: (sum: BatchOutcome) => void;
}

const perBatch = 250;

function add(sum: BatchOutcome, next: BatchOutcome): BatchOutcome {
  const faults: Record<string, number> = { ...sum.faults };
  for (const [kind, count] of Object.entries(next.faults)) faults[kind] = (faults[kind] ?? 0) + count;
  const failures = [sum.failure, next.failure].filter((failure) => failure !== undefined);
  const [failure] = failures.toSorted((one, other) => one.seed - other.seed);
  return { schedules: sum.schedules + next.schedules, steps: sum.steps + next.steps, faults, failure };
}

function* batchesOf({ seed, schedules, steps }: ManyPlan): Generator<Batch, undefined> {
  for (let at = 0; at < schedules; at += perBatch) {
    yield { seed: seed + at, count: Math.min(perBatch, schedules - at), steps };
  }
}

/**
 * Runs schedules on all cores until one breaks a promise; which one is reported does not depend on how many cores there
 * are. Ends its workers.
 */
export async function runMany(plan: ManyPlan): Promise<BatchOutcome> {
  const batches = batchesOf(plan);
  let sum: BatchOutcome = { schedules: 0, steps: 0, faults: {}, failure: undefined };
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(plan.script, { eval: true });
      const end = (): void => void worker.terminate().then(() => resolve(), reject);
      const next = (): void => {
        const batch = sum.failure === undefined ? batches.next().value : undefined;
        if (batch === undefined) end();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        else worker.postMessage(batch);
      };
      worker.on("error", reject);
      worker.on("message", (outcome: BatchOutcome) => {
        sum = add(sum, outcome);
        plan.onProgress?.(sum);
        next();
      });
      next();
    });
  await Promise.all(Array.from({ length: plan.workers ?? availableParallelism() }, work));
  return sum;
}

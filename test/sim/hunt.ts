import { bundleWorker } from "./bundle-worker.ts";
import type { Mutant } from "./mutants.ts";
import { runMany } from "./run-many.ts";

/** How a bug was found. */
export interface Catch {
  readonly mutant: string;
  /** The number of the schedule that found it; `undefined` where none did. */
  readonly schedule: number | undefined;
  readonly invariant: string;
}

/** Every bug must be found by then. */
export const huntedSchedules = 10_000;

/**
 * Runs schedules over a spine with a bug until one fails.
 *
 * @throws Error when the bug does not fit into the spine as it is now.
 */
export async function hunt({ name, patches }: Mutant): Promise<Catch> {
  const script = await bundleWorker(patches);
  const { failure } = await runMany({ script, seed: 1, schedules: huntedSchedules, steps: 99 });
  return { mutant: name, schedule: failure?.seed, invariant: failure?.invariant ?? "" };
}

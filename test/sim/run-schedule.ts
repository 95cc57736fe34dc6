import { act, meddle } from "./actions.ts";
import { check } from "./checks.ts";
import type { Violation } from "./context.ts";
import { finish, quiesce } from "./quiesce.ts";
import { World } from "./world.ts";

/** Which schedule to run. The same plan is the same run. */
export interface Plan {
  readonly seed: number;
  readonly steps: number;
  /** Only these steps, where given: what is left of a schedule that was made shorter. */
  readonly kept?: ReadonlySet<number>;
  readonly isTraced?: boolean;
}

/** What came of one schedule. */
export interface Outcome {
  readonly violation: Violation | undefined;
  /** How many steps were taken before it ended. */
  readonly steps: number;
  readonly faults: Readonly<Record<string, number>>;
  /** What happened, line by line; empty where it was not asked for. */
  readonly trace: readonly string[];
}

/** Runs one schedule: random steps, each checked, then calm, then the end. Odd seeds have the strict profile. */
export function runSchedule(plan: Plan): Outcome {
  const world = new World(plan.seed % 2 === 1 ? "strict" : "normal", plan.isTraced === true);
  const { context } = world;
  context.onMeddle(() => meddle(world));
  let steps = 0;
  try {
    steps = takeSteps(world, plan);
    context.chance.reseed(plan.seed, -1);
    if (context.violation === undefined) quiesce(world);
    if (context.violation === undefined) finish(world);
  } catch (thrown) {
    context.fail("I4", `something is thrown into the loop: ${String(thrown)}`);
  }
  return { violation: context.violation, steps, faults: context.faults, trace: context.trace ?? [] };
}

/** Takes the steps; says how many, also where one of them broke something. */
function takeSteps(world: World, { seed, steps, kept }: Plan): number {
  const { context } = world;
  for (let step = 0; step < steps; step += 1) {
    if (kept?.has(step) === false) continue;
    context.trace?.push(`#${step}`);
    context.chance.reseed(seed, step);
    act(world);
    check(world);
    if (context.violation !== undefined) return step + 1;
  }
  return steps;
}

import { checkHistory } from "./check-history.ts";
import type { Violation } from "./history.ts";
import { runCycle } from "./run-cycle.ts";
import { Stage, type StageSetting } from "./stage.ts";
import { Tally } from "./tally.ts";

/** What to run. */
export interface ChaosSetting extends StageSetting {
  readonly cycles: number;
  /** Told after each cycle. */
  readonly onCycle?: ((tally: Tally) => void) | undefined;
}

/** What a run came to. It ends with the first cycle that breaks something. */
export interface ChaosOutcome {
  readonly tally: Tally;
  /** The cycle that broke something, and what. */
  readonly failure: { readonly cycle: number; readonly violations: readonly Violation[] } | undefined;
}

/** How many descriptors the face may have open more than after the first cycle: those of a connection that comes or goes. */
const spareFiles = 3;

function onProcess(subject: string, text: string, said = ""): Violation {
  return { check: "processes live", subject, text, story: said === "" ? [] : [said] };
}

function judgeServer({ face }: Stage, { figures }: Tally): readonly Violation[] {
  if (!face.isAlive) return [onProcess("the face", "has ended by itself", face.said)];
  const [first, last] = [figures[0]?.files ?? 0, figures.at(-1)?.files ?? 0];
  return last > first + spareFiles ? [onProcess("the face", `has ${last} open files where it had ${first}`)] : [];
}

async function judgeCycle(stage: Stage, cycle: number, tally: Tally): Promise<readonly Violation[]> {
  try {
    const history = await runCycle(stage, cycle);
    tally.add(history, stage.face.figures());
    return [...checkHistory(history), ...judgeServer(stage, tally)];
  } catch (cause) {
    return [onProcess("the cycle", `came to no end: ${String(cause)}`, stage.face.said)];
  }
}

/** Runs cycles until one breaks something. */
export async function runChaos({ cycles, onCycle, ...setting }: ChaosSetting): Promise<ChaosOutcome> {
  const stage = await Stage.open(setting);
  const tally = new Tally();
  let failure: ChaosOutcome["failure"];
  for (let cycle = 0; cycle < cycles && failure === undefined; cycle += 1) {
    const violations = await judgeCycle(stage, cycle, tally);
    if (violations.length > 0) failure = { cycle, violations };
    onCycle?.(tally);
  }
  const code = await stage.close();
  const { said } = stage.face;
  if (code !== 0) failure ??= { cycle: cycles, violations: [onProcess("the face", `ended with code ${code}`, said)] };
  return { tally, failure };
}

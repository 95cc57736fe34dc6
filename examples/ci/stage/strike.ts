import { setTimeout as delay } from "node:timers/promises";

import type { Printer } from "../agent/printer.ts";
import { readJournal } from "../engine/journal.ts";
import { replayJournal } from "../engine/replay-journal.ts";
import { journalIn } from "../state-dir.ts";
import { startCoordinator } from "./coordinator-process.ts";
import type { CoordinatorProcess, CoordinatorSetting } from "./coordinator-process.ts";
import type { AgentProcess } from "./start-agent.ts";

/** Who is on stage. */
export interface Cast {
  readonly setting: CoordinatorSetting;
  readonly agent: AgentProcess;
  readonly printer: Printer;
}

/** What a strike was like. */
export interface Strike {
  readonly killed: number;
  readonly started: CoordinatorProcess;
  readonly interrupted: readonly string[];
  /** Milliseconds from the kill until the next coordinator could be reached. */
  readonly outageMs: number;
}

/** How long an agent may look at what it finds meanwhile. */
const LOOK_MS = 3000;

/** Kills the coordinator in the middle of its work, and starts it again. */
export async function strike(coordinator: CoordinatorProcess, { setting, agent, printer }: Cast): Promise<Strike> {
  const { paint } = printer;
  const at = performance.now();
  agent.enter("during");
  await coordinator.kill();
  const { memory } = replayJournal(readJournal(journalIn(setting.state)));
  const interrupted = memory.states.filter(({ status }) => status === "interrupted").map(({ id }) => id);
  printer.step(`${paint("bad", "SIGKILL")} to coordinator ${coordinator.pid}; running then: ${toList(interrupted)}`);
  await Promise.race([agent.looked, delay(LOOK_MS)]);
  const started = await startCoordinator(setting);
  const outageMs = Math.round(performance.now() - at);
  agent.enter("after");
  const time = `${(outageMs / 1000).toFixed(2)} s`;
  printer.step(`${paint("good", "restarted")} as coordinator ${started.pid} after ${time}: run ${memory.run} goes on`);
  return { killed: coordinator.pid, started, interrupted, outageMs };
}

function toList(ids: readonly string[]): string {
  return ids.length === 0 ? "nothing" : ids.join(", ");
}

import { setTimeout as sleep } from "node:timers/promises";
import type { BackendProcess } from "./backend-process.ts";
import type { Restart, Strike } from "./history.ts";
import { now } from "./now.ts";
import type { Stage } from "./stage.ts";

/** What happens to a backend in each cycle, over and over: a short run has all of it. */
const kinds: readonly Strike["kind"][] = ["kill", "kill", "kill", "kill", "stop and kill", "end", "kill at start"];

/** How long a backend is stopped at most before it is killed, and lives at most that is killed at its start. */
const stoppedMs = 200;
const newbornMs = 250;

/** The load that is unanswered at the moment of a strike is at least this. */
const inFlightAtStrike = 100;

/** What was done to backends, and who came after them. */
export interface Struck {
  readonly strikes: readonly Strike[];
  readonly restarts: readonly Restart[];
  readonly inFlight: number;
}

async function end(backend: BackendProcess, kind: Strike["kind"], stopMs: number): Promise<Strike> {
  const at = now();
  if (kind === "stop and kill") {
    backend.signal("SIGSTOP");
    await sleep(stopMs);
  }
  backend.signal(kind === "end" ? "SIGTERM" : "SIGKILL");
  await backend.gone();
  return { kind, at, overAt: now() };
}

/** Ends the backend under load, at a moment of no regularity, and starts the next one at once; kills that too, at times. */
export async function strike({ chance, load, backend, restart, cycle }: StrikeSetting): Promise<Struck> {
  const kind = kinds[cycle % kinds.length] ?? "kill";
  const [pauseMs, stopMs, lifeMs] = [chance.below(12), chance.below(stoppedMs), chance.below(newbornMs)];
  load.topUp(inFlightAtStrike + 30);
  await sleep(pauseMs);
  load.topUp(inFlightAtStrike);
  const { inFlight } = load;
  const strikes = [await end(backend, kind === "kill at start" ? "kill" : kind, stopMs)];
  let next = restart();
  if (kind === "kill at start") {
    await sleep(lifeMs);
    strikes.push(await end(next, kind, 0));
    next = restart();
  }
  const { gen, startedAt } = next;
  return { strikes, restarts: [{ gen, at: startedAt, listeningAt: await next.listening() }], inFlight };
}

/** What striking takes of the stage. */
type StrikeSetting = Pick<Stage, "chance" | "load" | "backend"> & {
  readonly restart: () => BackendProcess;
  readonly cycle: number;
};

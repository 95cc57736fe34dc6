import { setTimeout as delay } from "node:timers/promises";

import { readJournal } from "../engine/journal.ts";
import { journalIn } from "../state-dir.ts";
import { adoptCoordinator } from "./coordinator-process.ts";
import type { CoordinatorProcess } from "./coordinator-process.ts";

const POLL_MS = 50;

/** Waits until a new coordinator has taken over a state directory; for nothing, once the signal has fired. */
export async function awaitCoordinator(state: string, signal: AbortSignal): Promise<CoordinatorProcess | undefined> {
  const before = pidsIn(state).length;
  while (!signal.aborted) {
    const [pid] = pidsIn(state).slice(before);
    if (pid !== undefined) return adoptCoordinator(pid);
    await delay(POLL_MS);
  }
  return undefined;
}

function pidsIn(state: string): readonly number[] {
  try {
    return readJournal(journalIn(state)).flatMap((line) => (line.kind === "opened" ? [line.pid] : []));
  } catch {
    return [];
  }
}

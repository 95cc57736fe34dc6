import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Refusal, unixSocket } from "surface-mcp";

import { pipeline } from "./pipeline-surface.ts";
import type { CoordinatorOptions } from "./read-options.ts";
import { coordinatorLogIn, makeStateDir, socketIn } from "./state-dir.ts";

/** What a coordinator exits with when another one listens already: no failure to whoever only wants there to be one. */
export const LISTENED_ALREADY = 3;

const PROGRAM = fileURLToPath(new URL("./coordinator.ts", import.meta.url));
const POLL_MS = 50;
/** How long a start may take on a machine that is busy. */
const START_MS = 20_000;

/**
 * Sees to it that a coordinator listens, and starts one where none does. Of several that are started at once one comes up,
 * and all who wait see it. It outlives the process that started it, unless it is tied to that.
 *
 * @throws Refusal `COORDINATOR_FAILED` when it does not come up; its log says why.
 */
export async function bringUp(options: CoordinatorOptions, signal: AbortSignal): Promise<void> {
  if (await isLive(options.state)) return;
  const child = await startCoordinator(options);
  const deadline = performance.now() + START_MS;
  while (!(await isLive(options.state))) {
    const hasFailed = child.exitCode !== null && child.exitCode !== LISTENED_ALREADY;
    if (hasFailed || child.signalCode !== null || performance.now() > deadline) throw createFailure();
    await delay(POLL_MS, undefined, { signal });
  }
}

async function isLive(state: string): Promise<boolean> {
  try {
    const connection = await unixSocket(socketIn(state)).connect(pipeline);
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

async function startCoordinator(options: CoordinatorOptions): Promise<ChildProcess> {
  const state = await makeStateDir(options.state);
  const { tied, temporary } = options;
  const flags = [...(tied ? ["--tied"] : []), ...(temporary ? ["--temporary"] : [])];
  const args = [PROGRAM, "--state", state, "--pipeline", options.pipeline, ...flags];
  const log = tied ? undefined : openSync(coordinatorLogIn(state), "a", 0o600);
  // In a session of its own: a Ctrl-C at whoever started it is not meant for it.
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), ...args], {
    stdio: [tied ? "pipe" : "ignore", "ignore", log ?? "inherit"],
    detached: true,
  });
  if (log !== undefined) closeSync(log);
  // Said by its exit as well, and by nothing else if it could not be started at all.
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  return child;
}

function createFailure(): Refusal {
  return new Refusal(
    "COORDINATOR_FAILED",
    "start the coordinator: it did not come up, and its owner finds why in its log",
  );
}

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Refusal, SurfaceError, unixSocket } from "surface-mcp";

import { pipeline } from "./pipeline-surface.ts";
import type { CoordinatorOptions } from "./read-options.ts";
import { coordinatorLogIn, makeStateDir, socketIn } from "./state-dir.ts";

/** What a coordinator exits with when another one listens already: no failure to whoever only wants there to be one. */
export const LISTENED_ALREADY = 3;

const PROGRAM = fileURLToPath(new URL("./coordinator.ts", import.meta.url));
/** What is there listens, and no wait will change what it is. A member that differs is told apart when it is used. */
const MISMATCHES: ReadonlySet<string> = new Set(["PROTOCOL_MISMATCH", "CONTRACT_MISMATCH", "UNKNOWN_MEMBER"]);
const POLL_MS = 50;
/** How long a start may take on a machine that is busy. */
const START_MS = 20_000;

/** How long whoever owns the state may take until it listens, or has let go of it, before another one is started. */
const AGAIN_MS = 250;

/**
 * Sees to it that a coordinator listens, and starts one where none does. Of several that are started at once one comes up,
 * and all who wait see it. It outlives the process that started it, unless it is tied to that.
 *
 * @throws Refusal `COORDINATOR_FAILED` when it does not come up; its log says why. `COORDINATOR_MISMATCH` when what listens
 * is of another version, or something else.
 */
export async function bringUp(options: CoordinatorOptions, signal: AbortSignal): Promise<void> {
  if (await isLive(options.state)) return;
  let child = await startCoordinator(options);
  const deadline = performance.now() + START_MS;
  while (!(await isLive(options.state))) {
    if (hasFailed(child) || performance.now() > deadline) throw createFailure();
    const isRefused = child.exitCode === LISTENED_ALREADY;
    await delay(isRefused ? AGAIN_MS : POLL_MS, undefined, { signal });
    // Whoever had it may have been about to end, and not to begin.
    if (isRefused && !(await isLive(options.state))) child = await startCoordinator(options);
  }
}

function hasFailed({ exitCode, signalCode }: ChildProcess): boolean {
  return signalCode !== null || (exitCode !== null && exitCode !== LISTENED_ALREADY);
}

async function isLive(state: string): Promise<boolean> {
  try {
    const connection = await unixSocket(socketIn(state)).connect(pipeline);
    await connection.close();
    return true;
  } catch (error) {
    if (error instanceof SurfaceError && MISMATCHES.has(error.code)) throw createMismatch();
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

function createMismatch(): Refusal {
  return new Refusal(
    "COORDINATOR_MISMATCH",
    "reach the coordinator: what listens is of another version or none at all, and its owner must end it first",
  );
}

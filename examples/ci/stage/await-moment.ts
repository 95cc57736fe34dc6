import { setTimeout as delay } from "node:timers/promises";
import { unixSocket } from "surface-mcp";
import type { z } from "zod";

import type { Board } from "../pipeline-schemas.ts";
import { pipeline } from "../pipeline-surface.ts";
import { socketIn } from "../state-dir.ts";

type NodesView = z.output<typeof Board>["nodes"];

/** What a good moment is judged by. */
export interface MomentSetting {
  /** The coordinator's directory. */
  readonly state: string;
  /** Whether nothing that changes anything is under way. */
  readonly isIdle: () => boolean;
  /** Gives up waiting. */
  readonly signal: AbortSignal;
}

const POLL_MS = 25;
/** How long a command must have been running, so that it is seen to be; the shortest of them takes less than half a second. */
const RUNNING_MS = 100;

/**
 * Waits until a run is well under way: something has ended, something else has been running for a moment, and nobody
 * changes anything. `false` when that never came, and the signal did. It asks the coordinator as any program of this
 * machine may, over its socket, without MCP.
 */
export async function awaitMoment({ state, isIdle, signal }: MomentSetting): Promise<boolean> {
  const connection = await connectInTime(state, signal);
  if (connection === undefined) return false;
  try {
    while (!signal.aborted) {
      if (isIdle() && isWellUnderWay((await connection.client.nodes.get()).nodes) && isIdle()) return true;
      await delay(POLL_MS);
    }
    return false;
  } finally {
    await connection.close();
  }
}

/** There is nobody there until the agent has brought somebody up. */
async function connectInTime(state: string, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      return await unixSocket(socketIn(state)).connect(pipeline);
    } catch {
      await delay(POLL_MS);
    }
  }
  return undefined;
}

function isWellUnderWay(nodes: NodesView): boolean {
  const hasEnded = nodes.some(({ status, attempt }) => status === "passed" || status === "failed" || attempt > 1);
  const isRunning = nodes.some(
    ({ status, startedAt = "" }) => status === "running" && Date.now() - Date.parse(startedAt) >= RUNNING_MS,
  );
  return hasEnded && isRunning;
}

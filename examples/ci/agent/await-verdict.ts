import { z } from "zod";

import { AgentBoard } from "../agent-schemas.ts";
import { Verdict } from "../pipeline-schemas.ts";
import { toProgressLine } from "./describe-nodes.ts";
import type { McpSession } from "./mcp-session.ts";
import type { Printer } from "./printer.ts";
import type { Toolbox } from "./toolbox.ts";

/** A verdict as the agent reads it. */
export type VerdictView = z.output<typeof Verdict>;

/** What waiting works with. */
export interface Waiting {
  readonly session: McpSession;
  readonly toolbox: Toolbox;
  readonly printer: Printer;
}

/** Whose verdicts are read. */
export interface VerdictQuery {
  readonly run: number;
  /** A cursor from before the run; left out where there is none, for the newest verdict and what comes after. */
  readonly since: string | undefined;
}

const Wait = z.object({
  status: z.enum(["fired", "timed_out", "interrupted"]),
  cursor: z.string(),
  occurrence: Verdict.optional(),
});

const Change = z.object({ status: z.enum(["changed", "timed_out"]), cursor: z.string() });

/** How long one call waits: short enough for hosts that give up on a silent tool. */
const WAIT_MS = 15_000;

/**
 * Makes a reader of a run's verdicts, one a call; none is missed and none comes twice. Each wait is bounded, and armed
 * again when it times out.
 */
export function createVerdictReader(waiting: Waiting, query: VerdictQuery): () => Promise<VerdictView> {
  let { since } = query;
  let known = 0;
  return async () => {
    for (;;) {
      const wait = await waitOnce(waiting, since);
      // A cursor that the server no longer knows is given up; without one it answers with its newest verdict.
      since = wait.status === "interrupted" ? undefined : wait.cursor;
      const { occurrence } = wait;
      // What another life of the coordinator has told is told again by the next one.
      if (occurrence?.run !== query.run || occurrence.number <= known) continue;
      known = occurrence.number;
      return occurrence;
    }
  };
}

async function waitOnce(waiting: Waiting, since: string | undefined): Promise<z.output<typeof Wait>> {
  const { session } = waiting;
  const over = new AbortController();
  const showing = showProgress(waiting, over.signal);
  try {
    const args = { timeout_ms: WAIT_MS, ...(since === undefined ? {} : { since }) };
    const answer = await session.call({ name: "settled", args }, Wait);
    if (!answer.ok) throw new Error(`wait for the verdict: ${answer.refusal}`);
    return answer.value;
  } finally {
    over.abort();
    await showing;
  }
}

/** Says how far the run is, whenever that changes. What goes wrong with the connection is for the other wait to say. */
async function showProgress({ session, toolbox, printer }: Waiting, signal: AbortSignal): Promise<void> {
  const uris = [toolbox.nodesUri];
  let since: string | undefined;
  try {
    while (!signal.aborted) {
      printer.waiting(toProgressLine((await session.read(toolbox.nodesUri, AgentBoard)).nodes));
      const args = { uris, timeout_ms: WAIT_MS, ...(since === undefined ? {} : { since }) };
      const change = await session.call({ name: "wait_for_change", args, signal }, Change);
      if (!change.ok) return;
      since = change.value.cursor;
    }
  } catch {
    // Ended by its signal, or with the connection.
  }
}

import { z } from "zod";

import { Nodes, Verdict } from "../pipeline-schemas.ts";
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

const Wait = z.object({
  status: z.enum(["fired", "timed_out"]),
  cursor: z.string(),
  occurrence: Verdict.optional(),
  reset: z.boolean().optional(),
});

/** How long one call waits: short enough for hosts that give up on a silent tool. */
const WAIT_MS = 15_000;

/**
 * Makes a reader of a run's verdicts, one a call, from the cursor on; none is missed and none comes twice. Each wait is
 * bounded, and armed again when it times out.
 */
export function createVerdictReader(waiting: Waiting, run: number, from: string): () => Promise<VerdictView> {
  let since: string | undefined = from;
  return async () => {
    for (;;) {
      const wait = await waitOnce(waiting, since);
      // A cursor that the server no longer knows is given up; without one it answers with its newest verdict.
      since = wait.reset === true && wait.status === "timed_out" ? undefined : wait.cursor;
      if (wait.occurrence?.run === run) return wait.occurrence;
    }
  };
}

async function waitOnce(
  { session, toolbox, printer }: Waiting,
  since: string | undefined,
): Promise<z.output<typeof Wait>> {
  let asking = false;
  const showProgress = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    const nodes = await session.read(toolbox.nodesUri, Nodes).finally(() => (asking = false));
    printer.waiting(toProgressLine(nodes));
  };
  const args = { timeout_ms: WAIT_MS, ...(since === undefined ? {} : { since }) };
  // What goes wrong with the connection, the call itself says; a missing line of progress is no harm.
  const onProgress = (): void => void showProgress().catch(() => {});
  const answer = await session.call({ name: "settled", args, onProgress }, Wait);
  if (!answer.ok) throw new Error(`wait for the verdict: ${answer.refusal}`);
  return answer.value;
}

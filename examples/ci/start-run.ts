import { setTimeout as delay } from "node:timers/promises";
import { SurfaceError } from "surface-mcp";
import type { SurfaceClient } from "surface-mcp";
import type { z } from "zod";

import type { Started } from "./agent-schemas.ts";
import type { agent } from "./agent-surface.ts";

/** The one code that says that nothing was sent, so that the same call may be made again. */
const NOT_SENT = "UNAVAILABLE";
const MOST_CALLS = 40;
const PAUSE_MS = 250;

/**
 * Starts a run of a coordinator that is there, and tries again for as long as nothing could be sent: one that has just come
 * up may not have been found yet by who looked for it in vain before.
 */
export async function startRun(
  client: SurfaceClient<typeof agent.members>,
  strict: boolean,
  signal: AbortSignal,
): Promise<z.input<typeof Started>> {
  for (let calls = 1; ; calls += 1) {
    try {
      // Taken before the run begins, so that even a run that ends at once cannot be missed.
      const { cursor: since } = await client.settled.recent(undefined, { signal });
      return { ...(await client["run.start"].call({ strict }, { signal })), since };
    } catch (error) {
      const mayBeSent = !(error instanceof SurfaceError) || error.code !== NOT_SENT;
      if (mayBeSent || calls >= MOST_CALLS) throw error;
      await delay(PAUSE_MS, undefined, { signal });
    }
  }
}

import { SurfaceError } from "../errors.ts";
import type { AskVerb, ChannelPort, Use } from "../surface/channel-port.ts";
import type { EventWait } from "../surface/client.ts";
import { defaultWaitMs } from "../surface/owner/event-owner.ts";

/**
 * Goes on with a wait for an event whose connection was lost. With a cursor it goes on where it was. Without one there
 * is nothing to go on from: it answers at once that it was reset, with the cursor of now, so that its caller looks.
 */
export async function resumeWait(port: ChannelPort, use: Use<AskVerb>, elapsedMs: number): Promise<unknown> {
  const { timeoutMs = defaultWaitMs, since } = use.options;
  if (since === undefined) {
    // A port answers a wait with this.
    const now = (await port.ask({ ...use, options: { ...optionsOf(use), timeoutMs: 0 } })) as EventWait;
    return { ...now, reset: true } satisfies EventWait;
  }
  return port.ask({ ...use, options: { ...optionsOf(use), timeoutMs: Math.max(0, timeoutMs - elapsedMs), since } });
}

// Not spread whole: an entry's signal is made when it is looked at.
function optionsOf({ options }: Use<AskVerb>): { readonly signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal };
}

/**
 * The answer of a wait that had a cursor and found no connection until it was over: that nothing was seen, which is
 * true, and where to go on. `undefined` for every other failure.
 */
export function toTimedOut(use: Use<AskVerb>, cause: unknown): EventWait | undefined {
  const { since } = use.options;
  if (use.verb !== "wait" || since === undefined) return undefined;
  if (!(cause instanceof SurfaceError) || cause.code !== "UNAVAILABLE") return undefined;
  return { status: "timed_out", cursor: since };
}

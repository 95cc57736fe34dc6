import { SurfaceError } from "../errors.ts";
import { isFinal } from "../spine/request.ts";
import type { Operation, RequestVerb, SurfaceChannel } from "../surface/channel.ts";
import type { EventWait } from "../surface/client.ts";
import { defaultWaitMs } from "../surface/owner/event-owner.ts";

/** How far a wait has come before it is sent. */
export interface WaitSoFar {
  readonly elapsedMs: number;
  /** Whether it was sent before, over a connection that was lost. */
  readonly isAgain: boolean;
}

/**
 * Sends a wait for an event that had to wait for a connection, for what is left of its time. One that was sent before goes
 * on where it was, where it has a cursor. Without one there is nothing to go on from: it answers at once that it was
 * reset, with the cursor of now, so that its caller looks.
 */
export async function resumeWait(
  channel: SurfaceChannel,
  use: Operation<RequestVerb>,
  soFar: WaitSoFar,
): Promise<unknown> {
  const { since } = use.options;
  if (since === undefined && soFar.isAgain) {
    // A channel answers a wait with this.
    const now = (await channel.request({ ...use, options: { ...optionsOf(use), timeoutMs: 0 } })) as EventWait;
    return { ...now, reset: true } satisfies EventWait;
  }
  const timeoutMs = Math.max(0, waitMs(use) - soFar.elapsedMs);
  return channel.request({
    ...use,
    options: { ...optionsOf(use), timeoutMs, ...(since === undefined ? {} : { since }) },
  });
}

/** How long a use waits for an event, in milliseconds. */
export function waitMs({ verb, options }: Operation<RequestVerb>): number {
  return verb === "wait" ? (options.timeoutMs ?? defaultWaitMs) : 0;
}

// Not spread whole: an entry's signal is made when it is looked at.
function optionsOf({ options }: Operation<RequestVerb>): { readonly signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal };
}

/**
 * The answer of a wait that had a cursor and found no connection until it was over: that nothing was seen, which is
 * true, and where to go on. `undefined` for every other failure, and where waiting will not mend it.
 */
export function toTimedOut(use: Operation<RequestVerb>, cause: unknown): EventWait | undefined {
  const { since } = use.options;
  if (use.verb !== "wait" || since === undefined) return undefined;
  if (!(cause instanceof SurfaceError) || cause.code !== "UNAVAILABLE" || isFinal(cause.cause)) return undefined;
  return { status: "timed_out", cursor: since };
}

import { cannotAsk } from "../own-refusals.ts";
import { cannotNest } from "../outcome.ts";
import { SurfaceError } from "../../errors.ts";
import { LinkedAbort, untilAborted } from "../../spine/signals.ts";
import { systemClock } from "../../surface/system-clock.ts";
import type { Caller } from "../../surface/caller.ts";
import type { EntryCall } from "../entry.ts";

/** What {@link inTime} takes. */
export interface TimedRead<TValue> {
  readonly run: (call: EntryCall) => Promise<TValue>;
  /** For whom it is read. */
  readonly caller: Caller;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Names the work in errors, for example `Watching resource "log"`. */
  readonly doing: string;
}

const quiet = (): void => {};

/**
 * Reads what nobody's own call asks for, and so none's deadline ends: at its own its signal fires.
 *
 * @throws SurfaceError `TIMEOUT`; `ABORTED`, or the signal's own reason, when that fires.
 */
export async function inTime<TValue>(read: TimedRead<TValue>): Promise<TValue> {
  const { run, caller, timeoutMs, signal: outer, doing } = read;
  const linked = new LinkedAbort(outer);
  const { signal } = linked;
  const late = (): void =>
    linked.abort(new SurfaceError("TIMEOUT", `${doing}: there was no answer within ${timeoutMs} ms`));
  const stop = systemClock.after(timeoutMs, late);
  try {
    return await untilAborted({
      start: () => run({ signal, progress: quiet, caller, nest: cannotNest, ...cannotAsk }),
      signal,
      doing,
    });
  } finally {
    stop();
    linked.dispose();
  }
}

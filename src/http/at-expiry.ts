import type { Caller } from "../surface/caller.ts";
import type { Clock } from "../spine/clock.ts";
import { handleThrown } from "../spine/handle-thrown.ts";

/**
 * Goes with a caller wherever they are copied, and is neither listed nor written with them: it is no business of handlers,
 * and nothing that could be sent to a worker.
 */
const kRevoked: unique symbol = Symbol("revoked");

/** Returns a caller with the signal that fires when their token is revoked. */
export function withRevocation(caller: Caller, revoked: AbortSignal | undefined): Caller {
  return revoked === undefined ? caller : Object.freeze({ ...caller, [kRevoked]: revoked });
}

/** Returns the signal that fires when the token of a caller is revoked, if there is one. */
export function revocationOf(caller: Caller): AbortSignal | undefined {
  const revoked: unknown = Reflect.get(caller, kRevoked);
  return revoked instanceof AbortSignal ? revoked : undefined;
}

/** The longest delay of a timer in Node, in milliseconds. A longer one fires at once. */
const longestMs = 2 ** 31 - 1;

function afterLong(clock: Clock, delayMs: number, run: () => void): () => void {
  if (delayMs <= longestMs) return clock.after(delayMs, run);
  let stop = clock.after(longestMs, () => {
    stop = afterLong(clock, delayMs - longestMs, run);
  });
  return () => stop();
}

function leftMs(expiresAt: number): number {
  return Math.max(0, expiresAt * 1000 - Date.now());
}

/**
 * Calls `run` once, when the token of a caller expires or is revoked. Returns a function that prevents it.
 */
export function atExpiry(clock: Clock, caller: Caller, run: () => void): () => void {
  const { expiresAt } = caller;
  const revoked = revocationOf(caller);
  if (expiresAt === undefined && revoked === undefined) return () => {};
  const over = (): void => {
    stop();
    handleThrown(revoked?.reason);
    run();
  };
  const stopTimer = expiresAt === undefined ? undefined : afterLong(clock, leftMs(expiresAt), over);
  // Later: the caller of this function has not finished its own setup.
  const stopSoon = revoked?.aborted === true ? clock.after(0, over) : undefined;
  revoked?.addEventListener("abort", over);
  const stop = (): void => {
    stopTimer?.();
    stopSoon?.();
    revoked?.removeEventListener("abort", over);
  };
  return stop;
}

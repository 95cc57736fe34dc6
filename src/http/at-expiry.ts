import type { Caller } from "../surface/caller.ts";
import type { Clock } from "../spine/clock.ts";
import { handleThrown } from "../spine/handle-thrown.ts";
import { revocationOf } from "./auth/revocation.ts";

/** The longest that a timer of Node's can wait: what is longer runs at once. */
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
 * Runs `run` once, when a caller is nobody any more: their token has expired, or was taken back. Never, where they stay who they
 * are. Returns what takes it back.
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
  // Whoever waits for it is not done beginning.
  const stopSoon = revoked?.aborted === true ? clock.after(0, over) : undefined;
  revoked?.addEventListener("abort", over);
  const stop = (): void => {
    stopTimer?.();
    stopSoon?.();
    revoked?.removeEventListener("abort", over);
  };
  return stop;
}

import type { Caller } from "../catalog/caller.ts";
import type { Clock } from "../spine/clock.ts";

/** The longest that a timer of Node's can wait: what is longer runs at once. */
const longestMs = 2 ** 31 - 1;

function afterLong(clock: Clock, delayMs: number, run: () => void): () => void {
  if (delayMs <= longestMs) return clock.after(delayMs, run);
  let stop = clock.after(longestMs, () => {
    stop = afterLong(clock, delayMs - longestMs, run);
  });
  return () => stop();
}

/** Runs `run` once, when a caller is nobody any more; never, where they stay who they are. Returns what takes it back. */
export function atExpiry(clock: Clock, { expiresAt }: Caller, run: () => void): () => void {
  if (expiresAt === undefined) return () => {};
  return afterLong(clock, Math.max(0, expiresAt * 1000 - Date.now()), run);
}

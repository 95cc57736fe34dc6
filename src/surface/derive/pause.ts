import { followSignal } from "../../spine/signals.ts";
import { systemClock } from "../system-clock.ts";

/** Resolves after a while, or at once when the signal fires. Does not keep the process alive. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = systemClock.after(delayMs, () => {
      leave();
      resolve();
    });
    const leave = followSignal(signal, () => {
      stop();
      resolve();
    });
  });
}

import type { Clock } from "../spine/clock.ts";

/** The time of this machine. Its timers do not keep the process alive: whether it is to wait is its author's to say. */
export const systemClock: Clock = Object.freeze({
  now: () => performance.now(),
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
});

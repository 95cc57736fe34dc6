import { SurfaceError } from "../errors.ts";
import type { Clock } from "../spine/clock.ts";

/** The time of this machine. Its timers do not keep the process alive: whether it is to wait is its author's to say. */
export const systemClock: Clock = Object.freeze({
  now: () => performance.now(),
  after(delayMs: number, run: () => void) {
    const timer = unrefTimer(setTimeout(run, delayMs));
    return () => clearTimeout(timer);
  },
});

/**
 * The same clock, for how long somebody waits at most. Its timers keep the process alive: one that has nothing else to do
 * would end in the midst of the wait, and say nothing.
 */
export const waitingClock: Clock = Object.freeze({
  now: () => performance.now(),
  after(delayMs: number, run: () => void) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
});

/** Settles as `work` does; rejects with `TIMEOUT` if that takes longer. `doing` starts the message. */
export function withTimeout<TValue>(
  work: TValue | PromiseLike<TValue>,
  timeoutMs: number,
  doing: string,
): Promise<TValue> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new SurfaceError("TIMEOUT", `${doing}: no answer within ${timeoutMs} ms`));
    const stop = waitingClock.after(timeoutMs, late);
    Promise.resolve(work).finally(stop).then(resolve, reject);
  });
}

/** Lets a process end while a timer waits. Returns the timer. */
export function unrefTimer(timer: NodeJS.Timeout): NodeJS.Timeout {
  // Only Node's own, and those of runtimes that are like it, keep a process alive: elsewhere a timer is a number.
  (timer as Partial<NodeJS.Timeout>).unref?.();
  return timer;
}

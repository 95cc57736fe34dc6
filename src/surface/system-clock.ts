import { SurfaceError } from "../errors.ts";
import type { Clock } from "../spine/clock.ts";

/** Lets the process end while a timer waits. Returns the timer. */
export function unrefTimer(timer: NodeJS.Timeout): NodeJS.Timeout {
  // In runtimes where a timer is a number, timers do not keep the process alive.
  (timer as Partial<NodeJS.Timeout>).unref?.();
  return timer;
}

function createClock(start: typeof unrefTimer): Clock {
  return Object.freeze({
    now: () => performance.now(),
    after(delayMs: number, run: () => void) {
      const timer = start(setTimeout(run, delayMs));
      return () => clearTimeout(timer);
    },
  });
}

/** The time of this machine. Its timers do not keep the process alive. */
export const systemClock: Clock = createClock(unrefTimer);

/** The same clock, for timeouts. Its timers keep the process alive, which otherwise could end silently during a wait. */
export const waitingClock: Clock = createClock((timer) => timer);

/** Settles as `work` does, or resolves with `undefined` after a time. */
export async function atMost<TValue>(work: Promise<TValue>, timeoutMs: number): Promise<TValue | undefined> {
  let stop: () => void = () => {};
  const late = new Promise<undefined>((resolve) => (stop = waitingClock.after(timeoutMs, () => resolve(undefined))));
  try {
    return await Promise.race([work, late]);
  } finally {
    stop();
  }
}

/** Settles as `work` does, or rejects with `TIMEOUT`. @param doing - the start of the message. */
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

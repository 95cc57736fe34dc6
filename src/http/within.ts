import { waitingClock } from "../surface/system-clock.ts";

/** Settles with a promise, or after a time. Says whether it was the promise. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let stop: () => void = () => {};
  const late = new Promise<boolean>((resolve) => (stop = waitingClock.after(ms, () => resolve(false))));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    stop();
  }
}

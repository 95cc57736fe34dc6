import { setTimeout as delay } from "node:timers/promises";

/** Waits for something that must come: the bound is one on a hang, and no expectation of speed. */
export async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error("it did not come to that");
    await delay(5);
  }
}

/** Waits longer than a window, in which something would have been told. */
export const quiet = (): Promise<void> => delay(400);

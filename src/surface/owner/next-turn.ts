import { setImmediate } from "node:timers";

/**
 * After how many steps in one go a loop over the author's code lets timers and other work of the process have their
 * turn: an iteration that never waits for anything would otherwise keep them all from running.
 */
export const burst = 256;

/** Resolves after timers, input and whatever is due of the microtask queue have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

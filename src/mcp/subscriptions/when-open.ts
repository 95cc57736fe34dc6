import type { Clock } from "../../spine/clock.ts";
import { openPatienceMs } from "./subscription-limits.ts";
import type { TopicWatch } from "./topic-watch.ts";

/**
 * Runs `done` when all of some watches know what is there, so that a client that is told then misses nothing that changes
 * after it; or after a while, since what they wait for may be away. Runs it at once where there is nothing to wait for,
 * and once at most. Returns what takes it back.
 */
export function whenOpen(watches: readonly TopicWatch[], clock: Clock, done: () => void): () => void {
  const awaited = watches.filter(({ isThere }) => isThere === undefined);
  let left = awaited.length;
  if (left === 0) {
    done();
    return () => {};
  }
  const cancel = (): void => {
    stopTimer();
    for (const watch of awaited) watch.onOpened = undefined;
  };
  const finish = (): void => {
    cancel();
    done();
  };
  const stopTimer = clock.after(openPatienceMs, finish);
  for (const watch of awaited) {
    watch.onOpened = () => {
      left -= 1;
      if (left === 0) finish();
    };
  }
  return cancel;
}

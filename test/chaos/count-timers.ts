/**
 * Counts the timers that are armed from now on, with those among them that do not keep the process alive and so are in no
 * list of the process. Returns what tells how many there are.
 */
export function countTimers(): () => number {
  const { setTimeout: arm, clearTimeout: disarm } = globalThis;
  const armed = new Set<unknown>();
  const counting = (run: () => void, delayMs?: number): NodeJS.Timeout => {
    const timer = arm(() => {
      armed.delete(timer);
      run();
    }, delayMs);
    armed.add(timer);
    return timer;
  };
  // Nobody here gives a timer arguments, or promisifies it.
  globalThis.setTimeout = counting as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    armed.delete(timer);
    disarm(timer);
  };
  return () => armed.size;
}

/** Lets a process end while a timer waits. Returns the timer. */
export function unrefTimer(timer: NodeJS.Timeout): NodeJS.Timeout {
  // Only Node's own, and those of runtimes that are like it, keep a process alive: elsewhere a timer is a number.
  (timer as Partial<NodeJS.Timeout>).unref?.();
  return timer;
}

import type { ChildProcess } from "node:child_process";

const living = new Set<ChildProcess>();

/** Nothing asynchronous runs any more: there is no time left to ask. */
function endAll(): void {
  for (const child of living) child.kill("SIGKILL");
}

/**
 * Kills a process that is still there when this one exits: a face does so within the time that its host allows it, however
 * long what it has started takes to end. One listener serves all, and goes with the last of them.
 */
export function endWithUs(child: ChildProcess): void {
  if (living.size === 0) process.on("exit", endAll);
  living.add(child);
  child.once("exit", () => {
    living.delete(child);
    if (living.size === 0) process.off("exit", endAll);
  });
}

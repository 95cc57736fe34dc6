import type { EngineMemory } from "./engine-record.ts";

/**
 * One stretch of work on a run: from a start or a rerun until nothing runs any more. A rerun that comes while work
 * goes on continues the stretch.
 */
export interface Pass {
  /** What `performance.now()` said when it began, or when the last rerun came. */
  startedAt: number;
  /** Whether a node has failed since. */
  redSeen: boolean;
  /** Set once nothing new may start: a strict run saw red. */
  stopped: boolean;
  /** Set once somebody has cancelled it. */
  cancelling: boolean;
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

/** Makes a pass that begins now, or one that goes on from what is given. */
export function createPass(from: Partial<Pick<Pass, "startedAt" | "redSeen" | "stopped">> = {}): Pass {
  let resolveSettled: (() => void) | undefined;
  const settled = new Promise<void>((resolve) => {
    resolveSettled = resolve;
  });
  const settle = (): void => resolveSettled?.();
  const fresh = { startedAt: performance.now(), redSeen: false, stopped: false };
  return { ...fresh, ...from, cancelling: false, settled, settle };
}

/** Makes the pass that a memory says was cut short, if there is one. */
export function restorePass({ pass, strict }: EngineMemory): Pass | undefined {
  if (!pass) return undefined;
  const redSeen = pass.red === "told";
  const startedAt = performance.now() - Math.max(0, Date.now() - pass.startedAt);
  return createPass({ startedAt, redSeen, stopped: redSeen && strict });
}

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

/** Makes a pass that begins now. */
export function createPass(): Pass {
  let resolveSettled: (() => void) | undefined;
  const settled = new Promise<void>((resolve) => {
    resolveSettled = resolve;
  });
  const settle = (): void => resolveSettled?.();
  return { startedAt: performance.now(), redSeen: false, stopped: false, cancelling: false, settled, settle };
}

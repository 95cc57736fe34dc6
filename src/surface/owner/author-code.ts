import { SurfaceError } from "../../errors.ts";
import type { OutputCheck } from "../check-value.ts";
import { maskFault, onRejection } from "../fault.ts";

/** Runs a piece of the author's code; what it throws is masked. */
export function runMasked<TResult>(check: OutputCheck, run: () => TResult): TResult {
  try {
    return run();
  } catch (cause) {
    throw maskFault(cause, check.where, check.report);
  }
}

function isStop(value: unknown): value is () => unknown {
  return typeof value === "function";
}

/**
 * Subscribes to a source. Neither the subscribing nor what stops it lets through what the author's code throws, or what
 * a promise of it rejects with; a source that gives nothing to stop it by is a fault, since it could never be left.
 */
export function subscribeMasked(check: OutputCheck, subscribe: () => unknown): () => void {
  const report = (cause: unknown): void => void maskFault(cause, check.where, check.report);
  return runMasked(check, () => {
    const stop = subscribe();
    if (!isStop(stop)) {
      onRejection(stop, report);
      throw new SurfaceError("INTERNAL", `Subscribing to ${check.where}: subscribe() must return what stops it`);
    }
    return () => {
      try {
        onRejection(stop(), report);
      } catch (cause) {
        report(cause);
      }
    };
  });
}

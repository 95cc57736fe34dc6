import { SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import type { WatchEvents } from "../spine/shared-watch.ts";
import { toLinkLoss } from "./link-loss.ts";

/** What opening again would not mend. */
const lastingCodes: ReadonlySet<SurfaceErrorCode> = new Set([
  "UNKNOWN_MEMBER",
  "WRONG_KIND",
  "CONTRACT_MISMATCH",
  "SCHEMA_UNSUPPORTED",
  "VALIDATION_ERROR",
  "DROPPED",
]);

/**
 * Iterates for somebody who is told; returns what stops it. The end of the connection is not told: whoever holds that
 * hears of it first.
 */
export function pump<TValue>(
  open: (signal: AbortSignal) => AsyncIterable<TValue>,
  events: WatchEvents<TValue>,
): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  const run = async (): Promise<void> => {
    try {
      for await (const value of open(signal)) {
        if (signal.aborted) return;
        events.value(value);
      }
      if (!signal.aborted) events.ended();
    } catch (cause) {
      if (signal.aborted || toLinkLoss(cause) !== undefined) return;
      const code = cause instanceof SurfaceError ? cause.code : "INTERNAL";
      events.failed(lastingCodes.has(code), code === "DROPPED");
    }
  };
  void run();
  return () => abort.abort();
}

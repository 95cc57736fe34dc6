import { SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import { type Sink, isPushing, iterateTo } from "../spine/pushing.ts";
import type { WatchEvents } from "../spine/shared-watch.ts";
import { isRelayed } from "../surface/relayed.ts";

/**
 * Whether a use has failed because its connection has, and not because the far side said no: `"sent"` where it may have
 * been acted upon, `"unsent"` where nothing was written. What a far side throws has these codes only where it tells
 * them of somebody further up: others are masked where they were thrown.
 */
export function toLinkLoss(cause: unknown): "sent" | "unsent" | undefined {
  if (isRelayed(cause) || !(cause instanceof SurfaceError)) return undefined;
  if (cause.code === "DISCONNECTED") return "sent";
  return cause.code === "UNAVAILABLE" ? "unsent" : undefined;
}

/** What opening again would not mend. */
const lastingCodes: ReadonlySet<SurfaceErrorCode> = new Set([
  "UNKNOWN_MEMBER",
  "WRONG_KIND",
  "CONTRACT_MISMATCH",
  "SCHEMA_UNSUPPORTED",
  "VALIDATION_ERROR",
  "DROPPED",
]);

/** Hands on what a watch hears, until that is stopped. */
class PumpSink<TValue> implements Sink<TValue> {
  readonly #events: WatchEvents<TValue>;
  readonly #signal: AbortSignal;

  constructor(events: WatchEvents<TValue>, signal: AbortSignal) {
    this.#events = events;
    this.#signal = signal;
  }

  value(value: TValue): void {
    if (!this.#signal.aborted) this.#events.value(value);
  }

  ended(): void {
    if (!this.#signal.aborted) this.#events.ended();
  }

  failed(cause: unknown): void {
    if (this.#signal.aborted || toLinkLoss(cause) !== undefined) return;
    const code = cause instanceof SurfaceError ? cause.code : "INTERNAL";
    this.#events.failed(lastingCodes.has(code), code === "DROPPED");
  }
}

/**
 * Follows values for a watch; returns a function that stops it. The end of the connection is not told: its holder hears of it
 * first.
 */
export function pump<TValue>(
  open: (signal: AbortSignal) => AsyncIterable<TValue>,
  events: WatchEvents<TValue>,
): () => void {
  const abort = new AbortController();
  const sink = new PumpSink(events, abort.signal);
  try {
    const values = open(abort.signal);
    if (isPushing(values)) values.push(sink);
    else void iterateTo(values, sink, abort.signal);
  } catch (cause) {
    sink.failed(cause);
  }
  return () => abort.abort();
}

import { SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import { type Pushing, type Sink, toPushing } from "../spine/pushing.ts";
import type { WatchEvents } from "../spine/subscriptions.ts";
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

/** A link, as far as it says whether its end cut values off. */
export interface PumpedLink {
  isOpen(): boolean;
}

/**
 * Follows values for a watch, until it is stopped. The end of the link is not told: its holder hears of that. Values that a link cuts
 * off end before the promise of its end can be heard, so its state is asked.
 */
class Pump<TValue> implements Sink<TValue> {
  readonly isFull = false;
  readonly #events: WatchEvents<TValue>;
  readonly #link: PumpedLink | undefined;
  readonly #abort = new AbortController();
  #values: Pushing<TValue> | undefined;

  constructor(events: WatchEvents<TValue>, link: PumpedLink | undefined) {
    this.#events = events;
    this.#link = link;
  }

  start(open: (signal: AbortSignal) => AsyncIterable<TValue>): void {
    try {
      this.#values = toPushing(open(this.#abort.signal));
    } catch (cause) {
      return this.failed(cause);
    }
    this.#values.push(this);
  }

  value(value: TValue): void {
    if (!this.#abort.signal.aborted) this.#events.value(value);
  }

  ended(): void {
    if (!this.#abort.signal.aborted && this.#link?.isOpen() !== false) this.#events.ended();
  }

  failed(cause: unknown): void {
    if (this.#abort.signal.aborted || toLinkLoss(cause) !== undefined) return;
    const code = cause instanceof SurfaceError ? cause.code : "INTERNAL";
    this.#events.failed(lastingCodes.has(code), code === "DROPPED");
  }

  /** Ends the values; how that goes is of no interest to a watch. */
  stop(): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort();
    this.#values?.return().catch(() => {});
  }
}

/**
 * Follows values for a watch; returns a function that stops it.
 *
 * @param link - the link that the values come by, if they come by one.
 */
export function pump<TValue>(
  open: (signal: AbortSignal) => AsyncIterable<TValue>,
  events: WatchEvents<TValue>,
  link?: PumpedLink,
): () => void {
  const following = new Pump(events, link);
  following.start(open);
  return () => following.stop();
}

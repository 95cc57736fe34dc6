import type { Caller } from "../surface/caller.ts";
import type { Turn } from "../mcp/methods.ts";
import type { OverBudget } from "../spine/budget.ts";
import type { HeldBytes } from "./body/held-bytes.ts";
import type { HttpReply } from "./message.ts";

/** One thing that takes a place until it is let go. Callable twice. */
export interface Place {
  release(): void;
}

/** Whose place it is: a caller, and where they are anonymous the session that they ask in. */
export interface Holder {
  readonly caller: Caller;
  /** Left out outside of sessions. */
  readonly session?: string;
  /** The reply to the request. Left out where nothing is known of it. */
  readonly reply?: Pick<HttpReply, "heldBytes">;
  /** What the body of the request took, which is held until it is done. Left out where nobody counts. */
  readonly bytes?: Pick<HeldBytes, "hold"> | undefined;
}

/** A request that waits for its turn, or has had it. */
export interface Turning {
  /** Takes it back while it waits; `false`: it was started. */
  withdraw(): boolean;
}

/** How much of everything one caller and all of them may have at once. */
export interface Admission {
  /**
   * Runs `start` now, or when one of the holder's own is done; it calls `done` once. `undefined`: too many wait already.
   * After an answer that the system does not take at once, the next one starts in another turn of the event loop: so a caller
   * with many large answers does not keep other callers waiting. Calls and reads wait apart, so that no read waits behind calls that take minutes.
   */
  take(holder: Holder, turn: Exclude<Turn, "none">, start: (done: () => void) => void): Turning | undefined;
  /** Takes a place for a stream that stays open. */
  openStream(caller: Caller): Place | OverBudget;
  /** Takes a place for a session. */
  openSession(caller: Caller): Place | OverBudget;
  /** How many there are. */
  readonly counts: { readonly streams: number; readonly sessions: number };
}

/** Whether a place was refused. */
export function isRefused(place: Place | OverBudget): place is OverBudget {
  return "limit" in place;
}

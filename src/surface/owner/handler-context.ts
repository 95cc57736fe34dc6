import type { Caller } from "../caller.ts";

/** Where a handler finds its {@link Memory}. */
export const kMemory: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.memory");

/** What the handler of an event goes on from when it is started again. It lives as long as what it has said is kept. */
export interface Memory {
  state: unknown;
  /** Says that what is kept further up is still to be told: nobody is answered from what was said before it has been. */
  expect(): void;
  /** Says that it has been told. What is told from now on is what happens. */
  landed(): void;
  /** Says that so much, or nobody knows how much where that is 0, was lost before what is told next. */
  lost(missed: number): void;
}

/** What a handler receives besides its input. */
export interface HandlerContext<TProgress = unknown> {
  /** Fires when the caller cancels, its deadline passes, or the surface closes. */
  readonly signal: AbortSignal;
  /**
   * Tells the caller how far along the work is. Does nothing once the handler has finished. May be taken out of the
   * context.
   *
   * @throws SurfaceError `INVALID_OUTPUT` for what does not fit the member's schema of progress.
   */
  progress(this: void, progress: TProgress): void;
  /** @internal Left out for one listener, for whom nothing is kept. */
  readonly [kMemory]?: Memory;
}

/** What the handler of a procedure receives besides its input. */
export interface ProcedureContext<TProgress = unknown> extends HandlerContext<TProgress> {
  /**
   * The user or program that the call is made for, over every link; an anonymous caller without a sign-in. A process that
   * connects by a link names its callers itself: trust them as far as you trust that process.
   */
  readonly caller: Caller;
}

import type { Scope } from "../../spine/scope.ts";
import type { Caller } from "../caller.ts";
import type { FaultReporter } from "../fault.ts";
import type { TraceContext } from "../trace-context.ts";

/** Key of the {@link HandlerMemory} in a {@link HandlerContext}. */
export const kMemory: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.memory");

/** Memory of an event handler across its starts. It lives as long as the occurrences that the handler has yielded are kept. */
export interface HandlerMemory {
  state: unknown;
  /** Announces that the handler first yields occurrences of the past. Reads and waits are answered after that. */
  expectReplay(): void;
  /** Announces that occurrences from now on are new. */
  replayed(): void;
  /** Announces that occurrences were lost before the next one: how many, or 0 for an unknown number. */
  lost(missed: number): void;
}

/** Second argument of every handler. */
export interface HandlerContext<TProgress = unknown> {
  /** Fires when the caller cancels, its deadline passes, or the surface closes. */
  readonly signal: AbortSignal;
  /** Reports progress to the caller, until the handler has finished. Needs no `this`. @throws SurfaceError `INVALID_OUTPUT`. */
  progress(this: void, progress: TProgress): void;
  /** @internal Left out for one listener, whose occurrences are not kept. */
  readonly [kMemory]?: HandlerMemory;
}

/** Second argument of the handler of a procedure. */
export interface ProcedureContext<TProgress = unknown> extends HandlerContext<TProgress> {
  /** The caller of the call, over every link. A process that connects by a link names its callers: trust them as far as that process. */
  readonly caller: Caller;
  /** The trace context of the call, over every link. Pass it to calls of other surfaces, and to tracers as the parent of your spans. */
  readonly trace: TraceContext | undefined;
}

/** Dependencies of the owner of a member. */
export interface OwnerDeps {
  readonly key: string;
  /** Scope of the live surface. Owners register their disposers with it. */
  readonly scope: Scope;
  readonly report: FaultReporter;
  /** The object with the handlers, which is their `this`. */
  readonly handlers: object;
}

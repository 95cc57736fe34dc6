import { LinkedAbort } from "../../spine/linked-abort.ts";
import type { Scope } from "../../spine/scope.ts";
import { toAborted } from "../../spine/until-aborted.ts";
import { anonymous, type Caller } from "../caller.ts";
import { checkOutput, type OutputCheck } from "../check-value.ts";
import type { CallOptions } from "../client.ts";
import { internalError, maskFault, onRejection } from "../fault.ts";
import type { MaybeSchema } from "../member.ts";

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

/** What all uses of one handler have in common. */
export interface UseTerms {
  readonly scope: Scope;
  readonly check: OutputCheck;
  /** The schema of progress. */
  readonly progress: MaybeSchema;
  /** Whether the member only reads. */
  readonly isReadOnly: boolean;
}

function isAbortError(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "AbortError";
}

/** One call of a procedure. Its signal is made only if the handler asks for one. */
export class OwnedUse implements ProcedureContext {
  readonly #use: CallOptions;
  readonly #terms: UseTerms;
  #linked: LinkedAbort | undefined;
  #telling: Promise<void> | undefined;
  #ended = false;

  constructor(use: CallOptions, terms: UseTerms) {
    this.#use = use;
    this.#terms = terms;
  }

  get signal(): AbortSignal {
    // A use that has ended links to nothing: nobody would ever let go of it.
    this.#linked ??= this.#ended ? new LinkedAbort() : new LinkedAbort(this.#use.signal, this.#terms.scope.signal);
    return this.#linked.signal;
  }

  get caller(): Caller {
    return this.#use.caller ?? anonymous;
  }

  /** Whether its caller's call may be made twice. */
  get mayRepeat(): boolean {
    return this.#use.idempotent ?? this.#terms.isReadOnly;
  }

  /**
   * Checks a report and passes it on, in order. A field, so that handlers may take it out of the context.
   *
   * @throws SurfaceError `INVALID_OUTPUT`; where the schema is asynchronous, {@link told} rejects with it instead.
   */
  readonly progress = (progress: unknown): void => {
    if (this.#ended) return;
    const checked = checkOutput(this.#terms.progress, progress, this.#terms.check);
    if (this.#telling === undefined && !(checked instanceof Promise)) {
      this.#tell(checked);
      return;
    }
    const before = this.#telling;
    this.#telling = Promise.all([checked, before]).then(([value]) => this.#tell(value));
    this.#telling.catch(() => {});
  };

  /** Settles when every report so far was passed on; `undefined` when that is the case. */
  get told(): Promise<void> | undefined {
    return this.#telling;
  }

  /** What a caller may see of what the handler threw: that it was aborted is no fault of it. */
  mask(cause: unknown): Error {
    const { where, report } = this.#terms.check;
    const signal = this.#linked?.signal;
    if (signal?.aborted !== true) return maskFault(cause, where, report);
    return cause === signal.reason || isAbortError(cause) ? this.cancelled() : maskFault(cause, where, report);
  }

  /** What a caller gets whose call was aborted. */
  cancelled(): Error {
    const { where, report } = this.#terms.check;
    return maskFault(toAborted(this.signal, `Using ${where}`), where, report);
  }

  /** Ends the use: progress falls silent and the signal lets go of its sources. */
  end(): void {
    this.#ended = true;
    this.#linked?.dispose();
  }

  #tell(progress: unknown): void {
    if (this.#ended) return;
    const { where, report } = this.#terms.check;
    // The listener is its caller's: that it fails is no reason to fail the work.
    const fail = (cause: unknown): void => void internalError(cause, `the progress listener of ${where}`, report);
    try {
      onRejection(this.#use.onProgress?.(progress), fail);
    } catch (cause) {
      fail(cause);
    }
  }
}

/** Whether the call that a handler was given may be made twice: for those that pass it on. Never of a context that is not ours. */
export function mayRepeat(context: HandlerContext): boolean {
  return context instanceof OwnedUse && context.mayRepeat;
}

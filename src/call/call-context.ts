import { SurfaceError } from "../errors.ts";
import { anonymous, type Caller } from "../catalog/caller.ts";
import { cannotNest } from "../catalog/cannot-nest.ts";
import type { EntryCall, LogEntry, NestedCall, ProgressReport } from "../catalog/entry.ts";
import type { ToolOutcome } from "../catalog/outcome.ts";
import { clipText } from "../schema/clip-text.ts";
import type { RateLimiter } from "./rate-limiter.ts";

const maxMessageBytes = 512;

/** Receives a call's progress. */
export type ProgressSink = (report: ProgressReport) => void;

/** Receives what a call tells its client's log. */
export type LogSink = (entry: LogEntry) => void;

function ignore(): void {}

/** How far a call has come, for whoever counts. */
export type CallStage = "gate" | "arguments" | "backend";

/** What a call is under way for. */
export interface CallSetting {
  /** Where progress goes; left out when the caller did not ask for any. */
  readonly sink?: ProgressSink | undefined;
  /** Where the client's log is; left out when it is not to be told of anything. */
  readonly log?: LogSink | undefined;
  /** Default: somebody of whom nothing is known. */
  readonly caller?: Caller | undefined;
  /** How often the caller may call tools. Left out: as often as they like. */
  readonly limiter?: RateLimiter | undefined;
  /** Told of each stage that the call comes to. */
  readonly reached?: ((stage: CallStage) => void) | undefined;
}

/**
 * One call under way. Its signal is made only if somebody asks for it, since most handlers never do. It can end early
 * by {@link abort}, whether or not the handler listens.
 */
export class CallContext implements EntryCall {
  /** Tells the client's log while the call runs; left out where the client wants to hear nothing. */
  readonly log: LogSink | undefined;
  readonly caller: Caller;
  /** Counts the stages that the call comes to. */
  readonly reached: (stage: CallStage) => void;
  /** Counts the calls of tools. */
  readonly limiter: RateLimiter | undefined;
  readonly #sink: ProgressSink | undefined;
  #nest: (nested: NestedCall) => Promise<ToolOutcome> = cannotNest;
  #controller: AbortController | undefined;
  #ended: SurfaceError | undefined;
  #fail: ((error: SurfaceError) => void) | undefined;
  /** What was waited for last. */
  #work: Promise<unknown> | undefined;
  #finished = false;
  #last = Number.NEGATIVE_INFINITY;

  constructor({ sink, log, caller = anonymous, reached = ignore, limiter }: CallSetting = {}) {
    this.#sink = sink;
    this.log = log && ((entry) => void (this.#isOver || log(entry)));
    this.caller = caller;
    this.reached = reached;
    this.limiter = limiter;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended);
    }
    return this.#controller.signal;
  }

  /**
   * Passes a report on while the call runs. One that does not grow is dropped: the protocol forbids it. Messages are one
   * line of at most 512 bytes.
   */
  progress(report: ProgressReport): void {
    if (this.#sink === undefined || this.#isOver) return;
    const { progress, total, message } = report;
    if (!Number.isFinite(progress) || progress <= this.#last) return;
    this.#last = progress;
    this.#sink({
      progress,
      ...(total !== undefined && Number.isFinite(total) ? { total } : {}),
      ...(typeof message === "string" ? { message: clipText(message, maxMessageBytes) } : {}),
    });
  }

  nest(nested: NestedCall): Promise<ToolOutcome> {
    return this.#nest(nested);
  }

  /** From here on others can be called as a part of it. */
  allowNesting(nest: (nested: NestedCall) => Promise<ToolOutcome>): void {
    this.#nest = nest;
  }

  /** Whether nothing may be said any more under this call: it was answered, or nobody waits for its answer. */
  get #isOver(): boolean {
    return this.#finished || this.#ended !== undefined;
  }

  /** Throws what the call was ended with; does nothing while it runs. */
  assertRunning(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Ends the call early: its signal fires and {@link outcome} rejects. Does nothing once the call has finished. */
  abort(error: SurfaceError): void {
    if (this.#isOver) return;
    this.#ended = error;
    this.#controller?.abort(error);
    this.#fail?.(error);
  }

  /** Cancels the call for its caller. */
  cancel(): void {
    this.abort(new SurfaceError("ABORTED", "Calling: the caller cancelled"));
  }

  /** Settles as `work` does, or rejects as soon as the call is aborted. One piece of work at a time. */
  outcome<TValue>(work: PromiseLike<TValue>): Promise<TValue> {
    // Adopted once: a thenable of the author's may do something each time that it is asked.
    const adopted = Promise.resolve(work);
    this.#work = adopted;
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) reject(this.#ended);
      this.#fail = reject;
      adopted.then(resolve, reject);
    });
  }

  /** Marks the call as over: progress falls silent, and an abort no longer means anything. */
  finish(): void {
    this.#finished = true;
    this.#fail = undefined;
    if (this.#ended === undefined) this.#work = undefined;
  }

  /**
   * Tells when nothing of the author's runs for it any more: at once, or, where it was ended early, when its work has come
   * to an end, however long after its caller was answered. Of work that never ends it never tells.
   */
  whenIdle(told: () => void): void {
    if (this.#work === undefined) told();
    else void this.#work.then(told, told);
  }
}

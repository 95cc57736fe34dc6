import { randomUUID } from "node:crypto";
import { SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import type { ClientAsk } from "../catalog/asking/asking.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import { cannotAsk } from "../catalog/own-refusals.ts";
import { cannotNest, type ToolOutcome } from "../catalog/outcome.ts";
import type { EntryCall, LogEntry, NestedCall, ProgressReport, ToolEntry } from "../catalog/entry.ts";
import type { JsonObject } from "../schema/json.ts";
import type { AskPort } from "./ask-port.ts";
import type { ClientAsker } from "./asker.ts";
import type { HeldTime } from "./deadlines.ts";
import { keepMeta, readReport } from "./keep-meta.ts";
import type { Nesting, PartOf } from "./nesting.ts";
import { CallTrail, type Questions } from "./questions.ts";
import type { CallLimiter } from "./rate-limiter.ts";
import type { TrackedCall } from "./call-tree.ts";

/** Receives a call's progress. */
export type ProgressSink = (report: ProgressReport) => void;

/** Receives what a call tells its client's log. */
export type LogSink = (entry: LogEntry) => void;

function ignore(): void {}

/** What ends a call that its handler did not wait for. */
function leftBehind(): SurfaceError {
  return new SurfaceError("ABORTED", "Calling: the call that it is part of is over");
}

/** What ends all that goes on within a call: nobody is left, or it is all made again. */
const finalCodes: ReadonlySet<string> = new Set<SurfaceErrorCode>(["CLOSED", "INPUT_REQUIRED"]);

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
  /** Limits how often the caller may call tools, unless the caller is anonymous. @default no limit */
  readonly limiter?: CallLimiter | undefined;
  /** Told of each stage that the call comes to. */
  readonly reached?: ((stage: CallStage) => void) | undefined;
  /** Left out: it is part of none. */
  readonly partOf?: PartOf | undefined;
  /** How its client is asked. Left out: nobody can be. */
  readonly asking?: AskPort | undefined;
}

/**
 * One call under way. Its signal is made only if somebody asks for it, since most handlers never do. It can end early
 * by {@link abort}, whether or not the handler listens; what was called within it ends before it.
 */
export class CallContext implements EntryCall {
  /** Tells the client's log while the call runs; left out where the client wants to hear nothing. */
  readonly log: LogSink | undefined;
  readonly caller: Caller;
  /** Counts the stages that the call comes to. */
  readonly reached: (stage: CallStage) => void;
  /** Counts the calls of tools by a known caller. Anonymous callers share one identity, so their calls are not counted. */
  readonly limiter: CallLimiter | undefined;
  readonly partOf: PartOf | undefined;
  /** How its client is asked. May be said later, before anything runs. */
  asking: AskPort | undefined;
  /** Whether its caller is shown what it is a call of, now. Left out: they are as long as it runs. */
  stillShown: (() => boolean) | undefined;
  /** As {@link NestedCall.turn}. */
  turn: NestedCall["turn"];
  /** How many calls it is within. */
  readonly depth: number;
  /** The tool that it is a call of, once its arguments fit. */
  entry: ToolEntry | undefined;
  /** What is recorded of it; nothing of reads and the like. */
  tracked: TrackedCall | undefined;
  /** What it has asked and called so far, where that is of any matter. */
  trail: CallTrail | undefined;
  /** What is asked for it and all that is within it. Only of a call that is part of none. */
  questions: Questions | undefined;
  /** Whether a tool ran for it or within it, other than one that only stands for others. Only of a call that is part of none. */
  hasRun = false;
  /** How many calls within it have started that may change something. Only of a call that is part of none. */
  changes = 0;
  /** Releases the round of questions, which waits until its confirmation is asked. */
  posed: (() => void) | undefined;
  /** Stops what watches its time. */
  unwatch: (() => void) | undefined;
  /** How its time stands still, or has stood. */
  held: HeldTime | undefined;
  /** When it is over, as `performance.now()` counts it; and the same in milliseconds since 1970. */
  dueAt: number = Number.POSITIVE_INFINITY;
  deadline: number | undefined;
  /** The latest that `dueAt` can become: a `timeoutMs` that was set for it, or for a call that it is within. */
  latestAt: number = Number.POSITIVE_INFINITY;
  readonly #sink: ProgressSink | undefined;
  #nester: Nesting | undefined;
  /** What was called within it and has not come to an end. */
  #parts: Set<CallContext> | undefined;
  #whenPartless: (() => void)[] | undefined;
  #controller: AbortController | undefined;
  #ended: SurfaceError | undefined;
  #fail: ((error: SurfaceError) => void) | undefined;
  /** What was waited for last. */
  #work: Promise<unknown> | undefined;
  #started = false;
  #finished = false;
  #isDropped = false;
  #isUnsent = false;
  #last = Number.NEGATIVE_INFINITY;
  #meta: JsonObject | undefined;
  #asker: ClientAsker | undefined;

  constructor({ sink, log, caller = anonymous, reached = ignore, limiter, partOf, asking }: CallSetting = {}) {
    this.#sink = sink;
    this.log = log && ((entry) => void (this.isOver || log(entry)));
    this.caller = caller;
    this.reached = reached;
    this.limiter = caller.isAnonymous ? undefined : limiter;
    this.partOf = partOf;
    this.asking = asking;
    this.depth = partOf === undefined ? 0 : partOf.call.depth + 1;
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
    if (this.#sink === undefined || this.isOver) return;
    // Read once: a getter of the author's may say something else each time.
    const read = readReport(report);
    if (!Number.isFinite(read.progress) || read.progress <= this.#last) return;
    this.#last = read.progress;
    this.#sink(read);
  }

  /** The call that a host made. */
  get root(): CallContext {
    return this.partOf === undefined ? this : this.partOf.call.root;
  }

  /** Milliseconds by which its deadline was put off because its client was being asked. */
  get heldMs(): number {
    return this.held === undefined ? 0 : this.held.ms + this.standingMs(performance.now());
  }

  /** Milliseconds by which the questions that are open now put its deadline off. */
  standingMs(now: number): number {
    const { held } = this;
    return held === undefined || held.count === 0 ? 0 : Math.min(now - held.since, this.latestAt - this.dueAt);
  }

  ask(key: string, ask: ClientAsk): Promise<JsonObject> {
    return this.#asker === undefined ? cannotAsk.ask(key, ask) : this.#asker.ask(this, key, ask);
  }

  get runId(): string {
    return this.#asker?.runIdOf(this) ?? randomUUID();
  }

  onRoots(changed: () => void): () => void {
    const stop = this.isOver ? undefined : this.root.asking?.onRoots?.(changed);
    return stop === undefined ? ignore : (this.trail ??= new CallTrail()).listen(stop);
  }

  /** Said to the client of the call that it is a part of, unless it is made by other rights than theirs. */
  addMeta(members: JsonObject): void {
    if (this.isOver) return;
    if (this.partOf?.onMeta === undefined) this.#heardBy?.addMeta(members);
    else this.partOf.onMeta(members);
    if (this.partOf !== undefined) return;
    const kept = keepMeta(this.#meta, members);
    if (kept !== undefined) this.#meta = kept;
    else this.#asker?.leftOut(this);
  }

  /** What is said beside the answer, for programs. */
  get meta(): JsonObject | undefined {
    return this.#meta;
  }

  nest(nested: NestedCall): Promise<ToolOutcome> {
    return this.#nester === undefined || this.entry === undefined
      ? cannotNest(nested)
      : this.#nester.nest(this, this.entry, nested);
  }

  isConfirmed(entry: ToolEntry): boolean {
    return this.#nester?.isConfirmed(entry) === true;
  }

  /** From here on its client can be asked. */
  allowAsking(asker: ClientAsker): void {
    this.#asker = asker;
  }

  /** From here on others can be called as a part of it, by the tool that it is a call of. */
  allowNesting(nester: Nesting, by: ToolEntry): void {
    this.#nester = nester;
    this.entry = by;
  }

  /** Takes a call as a part of this one, until it has left. */
  addPart(part: CallContext): void {
    (this.#parts ??= new Set()).add(part);
    if (this.#isDropped) part.#endOnDrop();
  }

  /** Nothing runs for a part any more. */
  removePart(part: CallContext): void {
    this.#parts?.delete(part);
    if (this.#parts?.size !== 0) return;
    for (const told of this.#whenPartless?.splice(0) ?? []) told();
  }

  get parts(): Iterable<CallContext> {
    return this.#parts ?? [];
  }

  /** Whether nothing may be said any more under this call: it was answered, or nobody waits for its answer. */
  get isOver(): boolean {
    return this.#finished || this.#ended !== undefined;
  }

  /** What it was ended with before it had finished. */
  get endedWith(): SurfaceError | undefined {
    return this.#ended;
  }

  /** Whether a question ended the call or the call that it is within. */
  get isSuspended(): boolean {
    return this.#ended?.code === "INPUT_REQUIRED";
  }

  /** Its deadline, in milliseconds since 1970, where that is what ended it. */
  get passedDeadline(): number | undefined {
    return this.#ended?.code === "TIMEOUT" ? this.deadline : undefined;
  }

  /** Throws what the call was ended with; does nothing while it runs. */
  assertRunning(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Whether it calls a tool that may change something. A tool that only stands for others changes nothing itself. */
  get mayChange(): boolean {
    return this.entry?.hints.readOnlyHint === false && this.entry.isUncounted !== true;
  }

  /** Whether its handler has started, and may have changed something. */
  get mayHaveChanged(): boolean {
    return this.#started && this.mayChange;
  }

  /** The handler runs next: from here on something may have happened. */
  start(): void {
    this.#started = true;
    if (this.partOf !== undefined && this.mayChange) this.root.changes += 1;
  }

  /** Ends the call early: its signal fires and {@link outcome} rejects. Does nothing once the call has finished. */
  abort(error: SurfaceError): void {
    if (this.isOver) return;
    this.#ended = error;
    this.#endParts(error);
    this.tracked?.end(error.code);
    this.#controller?.abort(error);
    this.trail?.end(error);
    this.#fail?.(error);
  }

  /** Whether the call waited for a connection when it ended. */
  get isUnsent(): boolean {
    return this.#isUnsent;
  }

  unsent(): void {
    this.#isUnsent = true;
  }

  /** Cancels the call for its caller. */
  cancel(): void {
    this.abort(new SurfaceError("ABORTED", "Calling: the caller cancelled"));
  }

  /**
   * Its client has dropped the connection that it was made on, and it goes on itself: what it calls for them and is to end then
   * does, and what it calls later is not begun.
   */
  drop(): void {
    this.#isDropped = true;
    for (const part of this.#parts ?? []) part.#endOnDrop();
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

  /**
   * Marks the call as over: progress falls silent, an abort no longer means anything, and what was called within it and
   * not waited for ends, unless that was said otherwise.
   *
   * @param code - that of the error which it answered with.
   */
  finish(code?: string): void {
    if (this.#parts !== undefined && !this.isOver) this.#endParts(leftBehind());
    this.#finished = true;
    this.trail?.end(leftBehind());
    this.#fail = undefined;
    if (this.#ended === undefined) this.#work = undefined;
    this.tracked?.end(code);
  }

  /** Whether no handler runs for the call, nor for a call within it. After an early end handlers may still run. */
  get isIdle(): boolean {
    return this.#work === undefined && (this.#parts === undefined || this.#parts.size === 0);
  }

  /** Calls `told` when the call is idle: at once, or when its handlers settle. If one never does, it is never called. */
  whenIdle(told: () => void): void {
    if (this.#parts !== undefined && this.#parts.size > 0) {
      this.#whenPartless ??= [];
      this.#whenPartless.push(() => this.whenIdle(told));
    } else if (this.#work === undefined) told();
    else void this.#work.then(told, told);
  }

  /** Its handler's work, where that goes on although the call is over: it was ended early. */
  get overrun(): Promise<unknown> | undefined {
    return this.#ended === undefined ? undefined : this.#work;
  }

  /** Who else receives its `_meta`: nobody where it is made by other rights than theirs. */
  get #heardBy(): CallContext | undefined {
    return this.partOf?.isForTool === true ? undefined : this.partOf?.call;
  }

  #endOnDrop(): void {
    if (this.partOf?.endsOnDrop === true) this.cancel();
  }

  #endParts(error: SurfaceError): void {
    for (const part of this.#parts ?? []) {
      const goesOn = part.#started && part.partOf?.onAbort === "continue-running" && !finalCodes.has(error.code);
      if (!goesOn) part.abort(error);
    }
  }
}

import { randomUUID } from "node:crypto";
import type { InputRequest } from "../catalog/asking/asking.ts";
import type { EntryCall, LogEntry, NestedCall, ProgressReport, ToolEntry } from "../catalog/entry.ts";
import { rejectNestedCall, type ToolOutcome } from "../catalog/outcome.ts";
import { cannotAsk } from "../catalog/own-refusals.ts";
import { SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import type { ObservedWork } from "../observe/observed-work.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { clipText } from "../schema/visible-text.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import type { TraceContext } from "../surface/trace-context.ts";
import type { ClientPort, InputRequester } from "./asker.ts";
import type { TrackedCall } from "./call-tree.ts";
import type { PausedTime } from "./deadlines.ts";
import type { CallLimiter } from "./limit-call.ts";
import type { NestedInvoker, ParentLink } from "./nesting.ts";
import { CallRounds, type Questions } from "./questions.ts";

/** Receives a call's progress. */
export type ProgressSink = (report: ProgressReport) => void;

/** Receives entries for the client's log. */
export type LogSink = (entry: LogEntry) => void;

/** The maximum size of the `_meta` of one answer or progress report, in bytes of JSON. */
const maxMetaBytes = 4096;

const maxMessageBytes = 512;

/** Merges members into a `_meta`, as inert JSON. Returns `undefined` if it is too large or not JSON. Never throws. */
export function keepMeta(before: JsonObject | undefined, members: unknown): JsonObject | undefined {
  try {
    if (!isJsonObject(members)) return undefined;
    const text = anyCodec.stringify({ ...before, ...members });
    const kept: unknown = JSON.parse(text);
    return Buffer.byteLength(text) <= maxMetaBytes && isJsonObject(kept) ? kept : undefined;
  } catch {
    // Not JSON, or a getter that throws.
    return undefined;
  }
}

/** Returns a copy of a report with known members only, and a message of one line. */
function readReport({ progress, total, message, meta }: ProgressReport): ProgressReport {
  const kept = meta === undefined ? undefined : keepMeta(undefined, meta);
  return {
    progress,
    ...(total !== undefined && Number.isFinite(total) ? { total } : {}),
    ...(typeof message === "string" ? { message: clipText(message, maxMessageBytes) } : {}),
    ...(kept === undefined ? {} : { meta: kept }),
  };
}

function ignore(): void {}

/** Creates the error that ends a nested call when its parent has finished without waiting for it. */
function parentEnded(): SurfaceError {
  return new SurfaceError("ABORTED", "Cannot finish a nested call: the call that made it is over");
}

/** The codes that end nested calls in any case: the app closes, or the whole call runs again. */
const finalCodes: ReadonlySet<string> = new Set<SurfaceErrorCode>(["CLOSED", "INPUT_REQUIRED"]);

/** A request that may have a trace context. */
interface TracedRequest {
  readonly trace: TraceContext | undefined;
}

/** A stage of a call, for counters. */
export type CallStage = "gate" | "arguments" | "backend";

/** Options of a {@link CallContext}. */
export interface CallContextOptions {
  /** Receives progress. @default none: the caller did not request it */
  readonly sink?: ProgressSink | undefined;
  /** Receives entries for the client's log. @default none */
  readonly log?: LogSink | undefined;
  /** @default an anonymous caller */
  readonly caller?: Caller | undefined;
  /** Limits the rate of calls of tools, unless the caller is anonymous. @default no limit */
  readonly limiter?: CallLimiter | undefined;
  /** Called when the call reaches a stage. */
  readonly reached?: ((stage: CallStage) => void) | undefined;
  /** The parent of a nested call. @default none: a root call, made by a host */
  readonly partOf?: ParentLink | undefined;
  /** Sends questions to the client. @default none: the client cannot be asked */
  readonly asking?: ClientPort | undefined;
}

/**
 * One running call. Creates its signal only on demand, since most handlers never use it. {@link abort} ends the call early, whether or
 * not the handler listens. Nested calls end before their parent.
 */
export class CallContext implements EntryCall {
  /** Writes to the client's log while the call runs; `undefined` if the client wants no entries. */
  readonly log: LogSink | undefined;
  readonly caller: Caller;
  readonly reached: (stage: CallStage) => void;
  /** The rate limit of a known caller. Anonymous callers share one identity, so their calls are not counted. */
  readonly limiter: CallLimiter | undefined;
  readonly partOf: ParentLink | undefined;
  /** Sends questions to the client. May be set later, before a handler runs. */
  asking: ClientPort | undefined;
  /** Returns whether the caller still sees the entry. `undefined`: it cannot be hidden while the call runs. */
  stillShown: (() => boolean) | undefined;
  /** As {@link NestedCall.turn}. */
  turn: NestedCall["turn"];
  /** The number of calls above it. */
  readonly depth: number;
  /** The called tool, once its arguments are valid. */
  entry: ToolEntry | undefined;
  /** The record in the call tree; `undefined` for calls of other entries than tools. */
  tracked: TrackedCall | undefined;
  /** The records of the request or nested call; `undefined` without observers. */
  observed: ObservedWork | undefined;
  /** The request of the client. Root calls only; `undefined` without a dispatcher. */
  request: TracedRequest | undefined;
  /** Its questions and nested calls. */
  trail: CallRounds | undefined;
  /** The questions of the call and its nested calls. Root calls only. */
  questions: Questions | undefined;
  /** Whether a tool ran, other than a gateway's. Root calls only. */
  hasRun = false;
  /** The number of started nested calls that may change something. Root calls only. */
  changes = 0;
  /** Releases the round of questions, which waits until this call's confirmation is asked. */
  posed: (() => void) | undefined;
  /** Stops the watch on its deadline. */
  unwatch: (() => void) | undefined;
  /** The time for which questions have stopped its clock. */
  held: PausedTime | undefined;
  /** The deadline as `performance.now()` counts, and as Unix time in milliseconds. */
  dueAt: number = Number.POSITIVE_INFINITY;
  deadline: number | undefined;
  /** The limit up to which questions put off `dueAt`: a `timeoutMs` set for this call or one above it. */
  latestAt: number = Number.POSITIVE_INFINITY;
  readonly #sink: ProgressSink | undefined;
  #nesting: NestedInvoker | undefined;
  /** Nested calls whose handlers run. */
  #children: Set<CallContext> | undefined;
  #onChildrenDone: (() => void)[] | undefined;
  #controller: AbortController | undefined;
  #onAbort: ((reason: SurfaceError) => void)[] | undefined;
  #ended: SurfaceError | undefined;
  #fail: ((error: SurfaceError) => void) | undefined;
  /** The last work that the call waited for. */
  #work: Promise<unknown> | undefined;
  #started = false;
  #finished = false;
  #isDropped = false;
  /** Whether the call waited for a connection when it ended. */
  isUnsent = false;
  #last = Number.NEGATIVE_INFINITY;
  #meta: JsonObject | undefined;
  #asker: InputRequester | undefined;

  constructor({ sink, log, caller = anonymous, reached = ignore, limiter, partOf, asking }: CallContextOptions = {}) {
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

  whenAborted(callback: (reason: unknown) => void): () => void {
    if (this.#ended !== undefined) {
      callback(this.#ended);
      return ignore;
    }
    const callbacks = (this.#onAbort ??= []);
    // A wrapper, so that one function added twice is called twice.
    const own = (reason: SurfaceError): void => callback(reason);
    callbacks.push(own);
    return () => {
      const at = callbacks.indexOf(own);
      if (at !== -1) callbacks.splice(at, 1);
    };
  }

  /** Reports progress while the call runs. Drops a report that does not grow, which the protocol forbids. */
  progress(report: ProgressReport): void {
    const isRead = this.tracked?.isProgressRead === true;
    if ((this.#sink === undefined && !isRead) || this.isOver) return;
    // Read once, since a getter may return another value each time.
    const read = readReport(report);
    if (!Number.isFinite(read.progress) || read.progress <= this.#last) return;
    this.#last = read.progress;
    if (isRead && this.tracked !== undefined) this.tracked.progress = read;
    this.#sink?.(read);
  }

  /** The trace context for handlers and links: that of an observer, such as its span, else that of the request. Read on demand. */
  get trace(): TraceContext | undefined {
    return this.observed === undefined ? this.root.request?.trace : this.observed.trace;
  }

  /** The call that the host made. */
  get root(): CallContext {
    return this.partOf === undefined ? this : this.partOf.call.root;
  }

  /** Milliseconds by which questions to the client have put off its deadline. */
  get heldMs(): number {
    return this.held === undefined ? 0 : this.held.ms + this.standingMs(performance.now());
  }

  /** Returns the milliseconds by which open questions put off its deadline. */
  standingMs(now: number): number {
    const { held } = this;
    return held === undefined || held.count === 0 ? 0 : Math.min(now - held.since, this.latestAt - this.dueAt);
  }

  /** As {@link EntryCall.ask}. @param port - sends the question. @default the client of the call */
  ask(key: string, ask: InputRequest, port: ClientPort | undefined = this.root.asking): Promise<JsonObject> {
    return this.#asker === undefined ? cannotAsk.ask(key, ask) : this.#asker.ask(this, { key, ask, port });
  }

  get runId(): string {
    return this.#asker?.runIdOf(this) ?? randomUUID();
  }

  onRoots(changed: () => void): () => void {
    const stop = this.isOver ? undefined : this.root.asking?.onRoots?.(changed);
    return stop === undefined ? ignore : (this.trail ??= new CallRounds()).listen(stop);
  }

  /** Adds members to the `_meta` of the root call's answer, unless a tool made this nested call with rights of the tool. */
  addMeta(members: JsonObject): void {
    if (this.isOver) return;
    if (this.partOf !== undefined) {
      const { onMeta, isForTool, call } = this.partOf;
      if (onMeta !== undefined) onMeta(members);
      else if (isForTool !== true) call.addMeta(members);
      return;
    }
    const kept = keepMeta(this.#meta, members);
    if (kept !== undefined) this.#meta = kept;
    else this.#asker?.leftOut(this);
  }

  /** The `_meta` of the answer. */
  get meta(): JsonObject | undefined {
    return this.#meta;
  }

  nest(nested: NestedCall): Promise<ToolOutcome> {
    return this.#nesting === undefined || this.entry === undefined
      ? rejectNestedCall(nested)
      : this.#nesting.nest(this, this.entry, nested);
  }

  isConfirmed(entry: ToolEntry): boolean {
    return this.#nesting?.isConfirmed(entry) === true;
  }

  /** Lets the handler ask the client from now on. */
  allowAsking(asker: InputRequester): void {
    this.#asker = asker;
  }

  /** Lets the handler of a tool make nested calls from now on. */
  allowNesting(nesting: NestedInvoker, by: ToolEntry): void {
    this.#nesting = nesting;
    this.entry = by;
  }

  addChild(child: CallContext): void {
    (this.#children ??= new Set()).add(child);
    if (this.#isDropped) child.#endOnDrop();
  }

  /** Removes a nested call whose handlers have settled. */
  removeChild(child: CallContext): void {
    this.#children?.delete(child);
    if (this.#children?.size !== 0) return;
    for (const done of this.#onChildrenDone?.splice(0) ?? []) done();
  }

  get children(): Iterable<CallContext> {
    return this.#children ?? [];
  }

  /** Returns whether the call was answered or ended, so that nothing may be sent for it any more. */
  get isOver(): boolean {
    return this.#finished || this.#ended !== undefined;
  }

  /** The error that ended the call before it finished. */
  get endedWith(): SurfaceError | undefined {
    return this.#ended;
  }

  /** Returns whether a question ended the call or one above it. */
  get isSuspended(): boolean {
    return this.#ended?.code === "INPUT_REQUIRED";
  }

  /** The deadline as Unix time in milliseconds, if it ended the call. */
  get passedDeadline(): number | undefined {
    return this.#ended?.code === "TIMEOUT" ? this.deadline : undefined;
  }

  /** Throws the error that ended the call, if any. */
  assertRunning(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /** Returns whether the called tool may change something. A gateway's tool changes nothing itself. */
  get mayChange(): boolean {
    return this.entry?.hints.readOnlyHint === false && this.entry.isUncounted !== true;
  }

  /** Returns whether its handler has started, and may have changed something. */
  get mayHaveChanged(): boolean {
    return this.#started && this.mayChange;
  }

  /** Returns whether the handler of a tool has started. */
  get isStarted(): boolean {
    return this.#started;
  }

  /** Records that the handler starts. */
  start(): void {
    this.#started = true;
    if (this.partOf !== undefined && this.mayChange) this.root.changes += 1;
  }

  /** Ends the call early: its signal fires and {@link outcome} rejects. Does nothing once the call is over. */
  abort(error: SurfaceError): void {
    if (this.isOver) return;
    this.#ended = error;
    this.#endChildren(error);
    this.tracked?.end(error.code);
    this.#controller?.abort(error);
    // One at a time, since a callback may stop others.
    for (let next = this.#onAbort?.shift(); next !== undefined; next = this.#onAbort?.shift()) next(error);
    this.trail?.end(error);
    this.#fail?.(error);
  }

  unsent(): void {
    this.isUnsent = true;
  }

  /** Cancels the call for its caller. */
  cancel(): void {
    this.abort(new SurfaceError("ABORTED", "Cannot finish a call: the caller cancelled it"));
  }

  /** Ends the nested calls, now and later, that end when the client drops its connection. The call itself goes on. */
  drop(): void {
    this.#isDropped = true;
    for (const child of this.#children ?? []) child.#endOnDrop();
  }

  /** Settles as `work` does, or rejects as soon as the call is aborted. One piece of work at a time. */
  outcome<TValue>(work: PromiseLike<TValue>): Promise<TValue> {
    // Adopted once, since `then` of a foreign thenable may have effects each time.
    const adopted = Promise.resolve(work);
    this.#work = adopted;
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) reject(this.#ended);
      this.#fail = reject;
      adopted.then(resolve, reject);
    });
  }

  /**
   * Finishes the call: stops progress, ignores later aborts, and ends nested calls that still run, except those that continue.
   *
   * @param code - the code of the error that the call answers with.
   */
  finish(code?: string): void {
    if (this.#children !== undefined && !this.isOver) this.#endChildren(parentEnded());
    this.#finished = true;
    this.trail?.end(parentEnded());
    this.#fail = undefined;
    if (this.#ended === undefined) this.#work = undefined;
    this.tracked?.end(code);
  }

  /** Returns whether no handler runs for the call or its nested calls. After an early end handlers may still run. */
  get isIdle(): boolean {
    return this.#work === undefined && (this.#children === undefined || this.#children.size === 0);
  }

  /** Calls `idle` when no handler runs for the call any more: at once, or when the last one settles. */
  whenIdle(idle: () => void): void {
    if (this.#children !== undefined && this.#children.size > 0) {
      this.#onChildrenDone ??= [];
      this.#onChildrenDone.push(() => this.whenIdle(idle));
    } else if (this.#work === undefined) idle();
    else void this.#work.then(idle, idle);
  }

  /** The work of a handler that continues although the call was ended. */
  get overrun(): Promise<unknown> | undefined {
    return this.#ended === undefined ? undefined : this.#work;
  }

  #endOnDrop(): void {
    if (this.partOf?.endsOnDrop === true) this.cancel();
  }

  #endChildren(error: SurfaceError): void {
    for (const child of this.#children ?? []) {
      const continues = child.#started && child.partOf?.onAbort === "continue-running" && !finalCodes.has(error.code);
      if (!continues) child.abort(error);
    }
  }
}

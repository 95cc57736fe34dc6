import { randomUUID } from "node:crypto";
import type { ProgressReport, ToolEntry } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { Places, type Place } from "../spine/collections.ts";
import { callerKey, anonymous, defaultView, type Caller } from "../surface/caller.ts";
import { internalError, reportToConsole, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";

/** The state of a call. `requested`: it waits for its turn. The last three are final. */
export type CallState = "requested" | "running" | "completed" | "error" | "aborted";

/** A snapshot of one call and its nested calls. */
export interface CallNode {
  /** Identifies the call among all calls of the process. */
  readonly requestId: string;
  /** The id of the called tool. */
  readonly operationId: string;
  /** The call that made this nested call; left out at the root. */
  readonly parentRequestId?: string;
  readonly state: CallState;
  /** The `id` of the caller with whose rights the call runs. For display: two tenants may share one. */
  readonly identity: string;
  /** The caller's {@link callerKey}. */
  readonly callerKey: string;
  /** The caller's view. */
  readonly surface: string;
  /** Unix time in milliseconds. */
  readonly requestedAt: number;
  /** Unix time in milliseconds when the call answers `TIMEOUT`. Left out until it runs. */
  readonly deadline?: number;
  readonly endedAt?: number;
  /** The code of the error that it answered with. */
  readonly code?: string;
  /** Nested calls, in the order in which they were made. */
  readonly children: readonly CallNode[];
}

/** An event of a call. `completed`, `error` and `aborted` are the last event of a call. */
export interface CallEvent {
  readonly type: "requested" | "responded" | "completed" | "error" | "aborted";
  readonly requestId: string;
  readonly operationId: string;
  readonly parentRequestId?: string;
  readonly identity: string;
  /** The caller's {@link callerKey}. */
  readonly callerKey: string;
  /** The arguments as received. With `requested`. */
  readonly input?: JsonObject;
  /** With `error` and `aborted`. */
  readonly code?: string;
  /** Unix time in milliseconds. */
  readonly deadline?: number;
}

/** The calls of an app over all transports: those that run, and the last 1,000 that have ended. */
export interface Calls {
  /** Returns the calls that hosts made, oldest first. */
  roots(): readonly CallNode[];
  /** Returns a call at any depth, with its nested calls. */
  find(requestId: string): CallNode | undefined;
  /** Calls `listener` for each event from now on, and reports what it throws as a fault. Returns a function that stops it. */
  subscribe(listener: (event: CallEvent) => void): () => void;
}

/** The maximum number of ended calls of hosts that are kept. */
const maxEnded = 1000;

/** The maximum number of calls kept under one root. Further ones are only counted. */
const maxKept = 10_000;

/** The maximum number of calls kept in all. Beyond it, the roots that ended first are dropped. */
const maxKeptInAll = 100_000;

/** Options of a {@link CallTree}. */
export interface CallTreeOptions {
  /** Receives what listeners throw. @default the console */
  readonly report?: FaultReporter | undefined;
}

/** The call behind a record while it runs. */
export interface RunningCall {
  /** Its work in records. */
  readonly observed: { readonly id: string } | undefined;
  abort(error: SurfaceError): void;
}

/** A requested call. */
export interface RequestedCall {
  readonly entry: Pick<ToolEntry, "id" | "name">;
  readonly caller: Caller;
  /** The arguments as received, for listeners. Not kept. */
  readonly args: JsonObject;
  readonly parent?: TrackedCall | undefined;
  /** Dropped at the end of the call. @default none: the call cannot be cancelled here */
  readonly call?: RunningCall | undefined;
}

/** The codes of calls that were aborted and did not fail. */
const abortCodes: ReadonlySet<string> = new Set(["ABORTED", "CLOSED", "INPUT_REQUIRED"]);

/** One call in the tree, without arguments and answers. Changes after its end are ignored. */
export class TrackedCall {
  /** Its number among the nested calls of its parent, or among all root calls. */
  readonly number: number;
  readonly parent: TrackedCall | undefined;
  /** The nested calls that are kept. */
  children: TrackedCall[] | undefined;
  /** The number of nested calls, those not kept included. */
  childCount = 0;
  /** The number of calls kept under it, itself included. Root calls only. */
  kept = 1;
  /** Its place among the running root calls. */
  place: Place<TrackedCall> | undefined;
  /** The call itself; `undefined` once it is over. */
  running: RunningCall | undefined;
  /** The last progress that its handler reported. Kept only while {@link CallTree.progressReaders} is not 0. */
  progress: ProgressReport | undefined;
  /** The name by which agents call the tool. */
  readonly name: string;
  readonly #tree: CallTree;
  readonly #operationId: string;
  // Texts instead of the caller, whose claims and grants may be large.
  readonly #identity: string;
  /** `undefined` for an anonymous caller, whose key is computed on demand. */
  readonly #callerKey: string | undefined;
  readonly #view: string;
  /** Unix time in milliseconds. */
  readonly requestedAt: number = Date.now();
  #state: CallState = "requested";
  #deadline: number | undefined;
  #endedAt: number | undefined;
  #code: string | undefined;

  constructor(tree: CallTree, number: number, { entry, caller, parent, call }: RequestedCall) {
    this.#tree = tree;
    this.running = call;
    this.number = number;
    this.parent = parent;
    this.name = entry.name;
    this.#operationId = entry.id;
    this.#identity = caller.id;
    this.#callerKey = caller.isAnonymous ? undefined : callerKey(caller);
    this.#view = caller.view?.surface ?? defaultView;
  }

  get requestId(): string {
    const { parent, number } = this;
    return parent === undefined ? `${this.#tree.prefix}-${number}` : `${parent.requestId}.${number}`;
  }

  /** The id of the called tool. */
  get tool(): string {
    return this.#operationId;
  }

  get root(): TrackedCall {
    return this.parent?.root ?? this;
  }

  /** Whether something reads its progress. */
  get isProgressRead(): boolean {
    return this.#tree.progressReaders > 0;
  }

  /** Records that the call runs. @param deadline - Unix time in milliseconds. */
  begin(deadline: number | undefined): void {
    if (this.#endedAt !== undefined) return;
    this.#state = "running";
    this.#deadline = deadline;
  }

  /** Records the end of the call. @param code - the code of its error. */
  end(code?: string): void {
    if (this.#endedAt !== undefined) return;
    this.#endedAt = Date.now();
    this.running = undefined;
    this.#code = code;
    if (code === undefined) this.#state = "completed";
    else this.#state = abortCodes.has(code) ? "aborted" : "error";
    if (this.#tree.isHeard) this.#emitEnd();
    if (this.parent === undefined) this.#tree.ended(this);
  }

  emitRequested(input: JsonObject): void {
    this.#tree.emit({ type: "requested", ...this.#head(), input });
  }

  /** Returns a snapshot of the call and its nested calls. @param children - those of them to include. @default all that are kept */
  toNode(children: readonly TrackedCall[] = this.children ?? []): CallNode {
    return Object.freeze({
      ...this.#head(),
      state: this.#state,
      surface: this.#view,
      requestedAt: this.requestedAt,
      ...(this.#deadline === undefined ? {} : { deadline: this.#deadline }),
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
      ...(this.#code === undefined ? {} : { code: this.#code }),
      children: Object.freeze(children.map((child) => child.toNode())),
    });
  }

  #emitEnd(): void {
    const code = this.#code;
    const shared = { ...this.#head(), ...(this.#deadline === undefined ? {} : { deadline: this.#deadline }) };
    if (code === undefined) {
      this.#tree.emit({ type: "responded", ...shared });
      this.#tree.emit({ type: "completed", ...shared });
    } else this.#tree.emit({ type: this.#state === "aborted" ? "aborted" : "error", ...shared, code });
  }

  #head(): Pick<CallNode, "requestId" | "operationId" | "identity" | "callerKey" | "parentRequestId"> {
    const head = {
      requestId: this.requestId,
      operationId: this.#operationId,
      identity: this.#identity,
      callerKey: this.#callerKey ?? callerKey({ ...anonymous, id: this.#identity }),
    };
    return this.parent === undefined ? head : { ...head, parentRequestId: this.parent.requestId };
  }
}

/** Records the calls of an app, in bounded memory. Needs no disposal. */
export class CallTree implements Calls {
  readonly prefix: string = randomUUID().slice(0, 8);
  /** The number of readers of progress: without one it is not kept. */
  progressReaders = 0;
  readonly #report: FaultReporter;
  /** Created with the first listener: most apps have none, and every call checks this. */
  #listeners: Listeners<CallEvent> | undefined;
  readonly #running = new Places<TrackedCall>();
  /** Ended root calls, in a ring, since a list that grows and shrinks with each call costs more. */
  readonly #ended: (TrackedCall | undefined)[] = Array.from({ length: maxEnded });
  #first = 0;
  #endedCount = 0;
  #kept = 0;
  #opened = 0;

  constructor({ report = reportToConsole }: CallTreeOptions = {}) {
    this.#report = report;
  }

  get isHeard(): boolean {
    return this.#listeners !== undefined && this.#listeners.size > 0;
  }

  open(asked: RequestedCall): TrackedCall {
    const call = asked.parent === undefined ? this.#openRoot(asked) : this.#openChild(asked, asked.parent);
    // A copy, since a listener might change the arguments.
    if (this.isHeard) call.emitRequested(structuredClone(asked.args));
    return call;
  }

  roots(): readonly CallNode[] {
    return Object.freeze(this.#roots().map((root) => root.toNode()));
  }

  find(requestId: string): CallNode | undefined {
    return this.#find(requestId)?.toNode();
  }

  /** Returns the running calls of hosts, oldest first. */
  running(): readonly TrackedCall[] {
    return this.#running.list().map(({ value }) => value);
  }

  /** Ends a running call, whose caller gets the answer of a cancelled call. Returns `false` if no such call runs. */
  cancel(requestId: string): boolean {
    const running = this.#find(requestId)?.running;
    running?.abort(new SurfaceError("ABORTED", "Cannot finish a call: it was cancelled at the application"));
    return running !== undefined;
  }

  subscribe(listener: (event: CallEvent) => void): () => void {
    this.#listeners ??= new Listeners();
    return this.#listeners.add(listener);
  }

  emit(event: CallEvent): void {
    Object.freeze(event);
    this.#listeners?.tell(event, (cause) => void internalError(cause, "a listener for calls", this.#report));
  }

  ended(root: TrackedCall): void {
    if (root.place !== undefined) this.#running.remove(root.place);
    root.place = undefined;
    if (this.#endedCount === maxEnded) this.#forgetFirst();
    this.#ended[(this.#first + this.#endedCount) % maxEnded] = root;
    this.#endedCount += 1;
    while (this.#kept > maxKeptInAll && this.#endedCount > 0) this.#forgetFirst();
  }

  #openRoot(asked: RequestedCall): TrackedCall {
    const call = new TrackedCall(this, (this.#opened += 1), asked);
    call.place = this.#running.add(call);
    this.#kept += 1;
    return call;
  }

  #openChild(asked: RequestedCall, parent: TrackedCall): TrackedCall {
    const call = new TrackedCall(this, (parent.childCount += 1), asked);
    const { root } = parent;
    if (root.kept >= maxKept) return call;
    parent.children ??= [];
    parent.children.push(call);
    root.kept += 1;
    this.#kept += 1;
    return call;
  }

  #forgetFirst(): void {
    const first = this.#ended[this.#first];
    this.#ended[this.#first] = undefined;
    if (first !== undefined) {
      this.#kept -= first.kept;
      // Keeps no further calls under it.
      first.kept = maxKept;
    }
    this.#first = (this.#first + 1) % maxEnded;
    this.#endedCount -= 1;
  }

  #find(requestId: string): TrackedCall | undefined {
    const [first = "", ...numbers] = requestId.split(".");
    let found = this.#roots().find((root) => root.requestId === first);
    for (const number of numbers) found = found?.children?.find((child) => String(child.number) === number);
    return found;
  }

  #roots(): readonly TrackedCall[] {
    const ended = this.#ended.filter((root) => root !== undefined);
    return [...ended, ...this.running()].toSorted((left, right) => left.number - right.number);
  }
}

import { randomUUID } from "node:crypto";
import type { ToolEntry } from "../catalog/entry.ts";
import type { JsonObject } from "../schema/json.ts";
import { Places, type Place } from "../spine/collections.ts";
import { callerKey, anonymous, defaultView, type Caller } from "../surface/caller.ts";
import { internalError, reportToConsole, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { CallEvent, CallNode, CallState, Calls } from "./call-node.ts";

/** How many calls of hosts are kept once they have ended. */
const maxEnded = 1000;

/** How many calls of one tree are kept: of further ones it is known only that they were. */
const maxKept = 10_000;

/** The same of all trees together, before those that ended first are forgotten. */
const maxKeptInAll = 100_000;

/** What a tree may be told. */
export interface CallTreeOptions {
  /** Told what listeners throw. Default: the console. */
  readonly report?: FaultReporter | undefined;
}

type Listener = (event: CallEvent) => void;

/** A call that is asked for. */
export interface AskedCall {
  readonly entry: Pick<ToolEntry, "id">;
  readonly caller: Caller;
  /** As they came; handed on to who listens, and not kept. */
  readonly args: JsonObject;
  /** The call that it is part of. */
  readonly above?: TrackedCall | undefined;
}

/** The codes with which a call ends that somebody gave up, and that did not fail. */
const abortCodes: ReadonlySet<string> = new Set(["ABORTED", "CLOSED", "INPUT_REQUIRED"]);

/** One call in the tree: only what the tree shows, without arguments and answers. Changes after its end are ignored. */
export class TrackedCall {
  /** Where it stands among the parts of the call above it, or among all calls that hosts made. */
  readonly number: number;
  readonly above: TrackedCall | undefined;
  /** Its parts that are kept. */
  parts: TrackedCall[] | undefined;
  /** How many parts it had, also those that are not kept. */
  partCount = 0;
  /** How many calls are kept in the tree of which it is the root. */
  kept = 1;
  /** Where it stands among the roots that run. */
  place: Place<TrackedCall> | undefined;
  readonly #tree: CallTree;
  readonly #operationId: string;
  // Texts, because the claims and grants of a caller may be large.
  readonly #identity: string;
  /** `undefined` for an anonymous caller, whose key is made when it is shown. */
  readonly #callerKey: string | undefined;
  readonly #view: string;
  /** Milliseconds since 1970. */
  readonly requestedAt: number = Date.now();
  #state: CallState = "requested";
  #deadline: number | undefined;
  #endedAt: number | undefined;
  #code: string | undefined;

  constructor(tree: CallTree, number: number, { entry, caller, above }: AskedCall) {
    this.#tree = tree;
    this.number = number;
    this.above = above;
    this.#operationId = entry.id;
    this.#identity = caller.id;
    this.#callerKey = caller.isAnonymous ? undefined : callerKey(caller);
    this.#view = caller.view?.surface ?? defaultView;
  }

  get requestId(): string {
    const { above, number } = this;
    return above === undefined ? `${this.#tree.prefix}-${number}` : `${above.requestId}.${number}`;
  }

  /** The id of what is called. */
  get tool(): string {
    return this.#operationId;
  }

  get root(): TrackedCall {
    return this.above?.root ?? this;
  }

  /** Its turn has come; from here on it has a deadline, in milliseconds since 1970. */
  begin(deadline: number | undefined): void {
    if (this.#endedAt !== undefined) return;
    this.#state = "running";
    this.#deadline = deadline;
  }

  /** It has ended: with an answer, or with the code of an error. */
  end(code?: string): void {
    if (this.#endedAt !== undefined) return;
    this.#endedAt = Date.now();
    this.#code = code;
    if (code === undefined) this.#state = "completed";
    else this.#state = abortCodes.has(code) ? "aborted" : "error";
    if (this.#tree.isHeard) this.#tellEnd();
    if (this.above === undefined) this.#tree.ended(this);
  }

  /** Tells that it was asked for. */
  tellRequested(input: JsonObject): void {
    this.#tree.tell({ type: "requested", ...this.#head(), input });
  }

  /** What it is now, with its parts. */
  look(): CallNode {
    return Object.freeze({
      ...this.#head(),
      state: this.#state,
      surface: this.#view,
      requestedAt: this.requestedAt,
      ...(this.#deadline === undefined ? {} : { deadline: this.#deadline }),
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
      ...(this.#code === undefined ? {} : { code: this.#code }),
      children: Object.freeze((this.parts ?? []).map((part) => part.look())),
    });
  }

  #tellEnd(): void {
    const code = this.#code;
    const said = { ...this.#head(), ...(this.#deadline === undefined ? {} : { deadline: this.#deadline }) };
    if (code === undefined) {
      this.#tree.tell({ type: "responded", ...said });
      this.#tree.tell({ type: "completed", ...said });
    } else this.#tree.tell({ type: this.#state === "aborted" ? "aborted" : "error", ...said, code });
  }

  #head(): Pick<CallNode, "requestId" | "operationId" | "identity" | "callerKey" | "parentRequestId"> {
    const head = {
      requestId: this.requestId,
      operationId: this.#operationId,
      identity: this.#identity,
      callerKey: this.#callerKey ?? callerKey({ ...anonymous, id: this.#identity }),
    };
    return this.above === undefined ? head : { ...head, parentRequestId: this.above.requestId };
  }
}

/**
 * The calls of an app, where they are made: cheap for each of them, bounded however many there are. What its listeners throw is
 * reported. Needs no disposal.
 */
export class CallTree implements Calls {
  readonly prefix: string = randomUUID().slice(0, 8);
  readonly #report: FaultReporter;
  /** Created with the first listener: most apps have none, and every call looks here. */
  #listeners: Listeners<CallEvent> | undefined;
  readonly #running = new Places<TrackedCall>();
  /** Those that ended, in a ring: no list that grows and shrinks with each call. */
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

  open(asked: AskedCall): TrackedCall {
    const call = asked.above === undefined ? this.#openRoot(asked) : this.#openPart(asked, asked.above);
    // A copy: what a listener does to it is not what is called with.
    if (this.isHeard) call.tellRequested(structuredClone(asked.args));
    return call;
  }

  roots(): readonly CallNode[] {
    return Object.freeze(this.#roots().map((root) => root.look()));
  }

  find(requestId: string): CallNode | undefined {
    const [first = "", ...numbers] = requestId.split(".");
    let found = this.#roots().find((root) => root.requestId === first);
    for (const number of numbers) found = found?.parts?.find((part) => String(part.number) === number);
    return found?.look();
  }

  subscribe(listener: Listener): () => void {
    this.#listeners ??= new Listeners();
    return this.#listeners.add(listener);
  }

  tell(event: CallEvent): void {
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

  #openRoot(asked: AskedCall): TrackedCall {
    const call = new TrackedCall(this, (this.#opened += 1), asked);
    call.place = this.#running.add(call);
    this.#kept += 1;
    return call;
  }

  #openPart(asked: AskedCall, above: TrackedCall): TrackedCall {
    const call = new TrackedCall(this, (above.partCount += 1), asked);
    const { root } = above;
    if (root.kept >= maxKept) return call;
    above.parts ??= [];
    above.parts.push(call);
    root.kept += 1;
    this.#kept += 1;
    return call;
  }

  #forgetFirst(): void {
    const first = this.#ended[this.#first];
    this.#ended[this.#first] = undefined;
    if (first !== undefined) {
      this.#kept -= first.kept;
      // What still runs in it is kept no more.
      first.kept = maxKept;
    }
    this.#first = (this.#first + 1) % maxEnded;
    this.#endedCount -= 1;
  }

  #roots(): readonly TrackedCall[] {
    const ended = this.#ended.filter((root) => root !== undefined);
    const running = this.#running.list().map(({ value }) => value);
    return [...ended, ...running].toSorted((left, right) => left.number - right.number);
  }
}

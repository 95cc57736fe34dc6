import type { ToolEntry } from "../catalog/entry.ts";
import { callerKey } from "../surface/caller-key.ts";
import { defaultView, type Caller } from "../surface/caller.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Place } from "../spine/places.ts";
import type { CallEvent, CallNode, CallState } from "./call-node.ts";

/** A call that is asked for. */
export interface AskedCall {
  readonly entry: Pick<ToolEntry, "id">;
  readonly caller: Caller;
  /** As they came; handed on to who listens, and not kept. */
  readonly args: JsonObject;
  /** The call that it is part of. */
  readonly above?: TrackedCall | undefined;
}

/** Where what happens to calls is told. */
export interface CallTold {
  /** Begins the names of all calls of a tree. */
  readonly prefix: string;
  /** Whether anybody listens. */
  readonly isHeard: boolean;
  tell(event: CallEvent): void;
  /** One without a call above it has ended. */
  ended(root: TrackedCall): void;
}

/** The codes with which a call ends that somebody gave up, and that did not fail. */
const abortCodes: ReadonlySet<string> = new Set(["ABORTED", "CLOSED", "INPUT_REQUIRED"]);

/**
 * One call in the tree: what is known of it, and nothing that it was given or answered. What happens to it after its end is
 * ignored.
 */
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
  readonly #told: CallTold;
  readonly #operationId: string;
  readonly #identity: string;
  readonly #callerKey: string;
  readonly #surface: string;
  /** Milliseconds since 1970. */
  readonly requestedAt: number = Date.now();
  #state: CallState = "requested";
  #deadline: number | undefined;
  #endedAt: number | undefined;
  #code: string | undefined;

  constructor(told: CallTold, number: number, { entry, caller, above }: AskedCall) {
    this.#told = told;
    this.number = number;
    this.above = above;
    this.#operationId = entry.id;
    this.#identity = caller.id;
    this.#callerKey = callerKey(caller);
    this.#surface = caller.view?.surface ?? defaultView;
  }

  get requestId(): string {
    const { above, number } = this;
    return above === undefined ? `${this.#told.prefix}-${number}` : `${above.requestId}.${number}`;
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
    if (this.#told.isHeard) this.#tellEnd();
    if (this.above === undefined) this.#told.ended(this);
  }

  /** Tells that it was asked for. */
  tellRequested(input: JsonObject): void {
    this.#told.tell({ type: "requested", ...this.#head(), input });
  }

  /** What it is now, with its parts. */
  look(): CallNode {
    return Object.freeze({
      ...this.#head(),
      state: this.#state,
      surface: this.#surface,
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
      this.#told.tell({ type: "responded", ...said });
      this.#told.tell({ type: "completed", ...said });
    } else this.#told.tell({ type: this.#state === "aborted" ? "aborted" : "error", ...said, code });
  }

  #head(): Pick<CallNode, "requestId" | "operationId" | "identity" | "callerKey" | "parentRequestId"> {
    const head = {
      requestId: this.requestId,
      operationId: this.#operationId,
      identity: this.#identity,
      callerKey: this.#callerKey,
    };
    return this.above === undefined ? head : { ...head, parentRequestId: this.above.requestId };
  }
}

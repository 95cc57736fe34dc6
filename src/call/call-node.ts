import type { JsonObject } from "../schema/json.ts";

/** How far a call is. `requested`: it waits for its turn. The last three are final. */
export type CallState = "requested" | "running" | "completed" | "error" | "aborted";

/** One call, or a part of one, as it was when it was looked at. */
export interface CallNode {
  /** Names it among all calls of the process. */
  readonly requestId: string;
  /** The id of what is called. */
  readonly operationId: string;
  /** The call that it is part of; left out at the root. */
  readonly parentRequestId?: string;
  readonly state: CallState;
  /** The `id` of the caller whose authority the call runs under. For display: two tenants may share one. */
  readonly identity: string;
  /** The caller's {@link callerKey}. */
  readonly callerKey: string;
  /** The view that it came by. */
  readonly surface: string;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  /** Milliseconds since 1970: when it answers `TIMEOUT`. Left out until it runs. */
  readonly deadline?: number;
  readonly endedAt?: number;
  /** The code of what it answered, where that was an error. */
  readonly code?: string;
  /** Its parts, in the order in which they were asked for. */
  readonly children: readonly CallNode[];
}

/** Something that happened to a call. Once `completed`, `error` or `aborted` was told, nothing more is told of it. */
export interface CallEvent {
  readonly type: "requested" | "responded" | "completed" | "error" | "aborted";
  readonly requestId: string;
  readonly operationId: string;
  readonly parentRequestId?: string;
  readonly identity: string;
  /** The caller's {@link callerKey}. */
  readonly callerKey: string;
  /** With `requested`: what it was asked, as it came. */
  readonly input?: JsonObject;
  /** With `error` and `aborted`. */
  readonly code?: string;
  /** Milliseconds since 1970. */
  readonly deadline?: number;
}

/** The calls of an app, over everything that serves it: those that run, and the last 1,000 that have ended. */
export interface Calls {
  /** The calls that hosts made, oldest first; those that run among them. */
  roots(): readonly CallNode[];
  /** One call, wherever in a tree it is, with its parts. */
  find(requestId: string): CallNode | undefined;
  /** Tells what happens to calls from now on. What it throws is a fault, and nothing more. Returns what stops it. */
  subscribe(listener: (event: CallEvent) => void): () => void;
}

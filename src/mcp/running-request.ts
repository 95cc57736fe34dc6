import type { CallContext } from "../call/call-context.ts";
import type { Caller } from "../surface/caller.ts";
import type { CallQueue, QueuedCall } from "./call-queue.ts";
import type { Method } from "./methods.ts";
import type { RequestFrame } from "./parse-frame.ts";
import type { Era, LogLevels, RequestId, RpcAnswer, RpcError } from "./protocol.ts";
import type { ResolvedView } from "./resolved-view.ts";

/** A request of a client, and the way back to the client. */
export interface ClientRequest {
  readonly frame: RequestFrame;
  /** Key among the running requests, for requests that stand alone: their ids may be equal. @default the id */
  readonly key?: RequestId;
  readonly era: Era;
  readonly caller: Caller;
  /** The view of the caller when the request arrived. */
  readonly view: ResolvedView;
  /** Protocol version of the handshake; `undefined` for clients without one. */
  readonly version: string | undefined;
  /** Log of the client; `undefined` for clients without a level of their own. */
  readonly log: LogLevels | undefined;
  /** The progress token, or what is wrong with it. */
  readonly token: string | number | undefined | RpcError;
  /** Resolves when the answer may follow the progress of the call; `undefined`: now. */
  readonly written?: Promise<void> | undefined;
  /** Creates the context of the call. Called once, if a handler runs. */
  open(token: string | number | undefined): CallContext;
  /** Delivers the answer. Called at most once, and not after {@link cancelled}. */
  answer(answer: RpcAnswer): void;
  /** Takes note that the client cancelled the request. */
  cancelled?(): void;
  /** Takes note that the server closes, and answers for itself. Left out: the aborted handler answers. */
  ended?(): void;
  /** Called once, after {@link open}, when the handler neither waits nor runs any more. */
  released?(): void;
  /** Whether the system has not taken the whole answer. @default false */
  readonly isUnread?: boolean;
}

/**
 * A request without an answer, or one whose handler still runs, and the request as its handler gets it. A class and no literal: V8
 * may allocate the literals of busy code among old objects, where each keeps a whole call from being collected while it is young.
 */
export class Running<TRequest extends ClientRequest> implements QueuedCall {
  readonly request: TRequest;
  /** `undefined` for subscriptions. */
  readonly method: Method | undefined;
  /** `undefined` for subscriptions. */
  call: CallContext | undefined;
  view: ResolvedView;
  /** The queue in which the request waits or has its place. */
  queue: CallQueue | undefined;
  /** Whether the request did not start at once. */
  hasWaited = false;
  /** Whether the handler was started, and has not settled. */
  isStarted = false;
  readonly #begin: (running: Running<TRequest>) => void;

  constructor(request: TRequest, method: Method | undefined, begin: (running: Running<TRequest>) => void) {
    this.request = request;
    this.method = method;
    this.view = request.view;
    this.#begin = begin;
  }

  get era(): Era {
    return this.request.era;
  }

  get version(): string | undefined {
    return this.request.version;
  }

  get log(): LogLevels | undefined {
    return this.request.log;
  }

  get text(): string | undefined {
    return this.request.frame.text;
  }

  start(): void {
    this.#begin(this);
  }
}

/** A request that a handler answers. */
export type HandlerRun<TRequest extends ClientRequest> = Running<TRequest> & {
  readonly method: Method;
  readonly call: CallContext;
};

/** Returns whether a handler answers a request; a subscription has none. */
export function hasHandler<TRequest extends ClientRequest>(
  running: Running<TRequest>,
): running is HandlerRun<TRequest> {
  return running.method !== undefined && running.call !== undefined;
}

/** Returns the key of a request among those that run. */
export function keyOf({ key, frame }: ClientRequest): RequestId {
  return key ?? frame.id;
}

import type { CallContext } from "../call/call-context.ts";
import { SurfaceError } from "../errors.ts";
import { SlotMap } from "../spine/slot-map.ts";
import type { Caller } from "../surface/caller.ts";
import { internalError } from "../surface/fault.ts";
import type { CallQueue, QueuedCall } from "./call-queue.ts";
import { methodsOf, runMethod, toInternalAnswer, type Method, type Methods, type Turn } from "./methods.ts";
import type { RequestFrame } from "./parse-frame.ts";
import {
  busy,
  closing,
  duplicateId,
  unknownMethod,
  type Era,
  type LogLevels,
  type RequestId,
  type RpcAnswer,
  type RpcError,
} from "./protocol.ts";
import type { ResolvedView } from "./resolved-view.ts";
import type { AppRuntime } from "./servable-app.ts";

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

/** Serves the methods of subscriptions, and answers them through {@link Dispatcher.answer}. */
interface Subscriptions<TRequest extends ClientRequest> {
  /** Serves a request, now or later. Returns `false` for a method that it does not have. */
  serve(request: TRequest): boolean;
  /** Ends a request of this key without an answer. */
  cancel(key: RequestId): void;
}

/** Dependencies of a dispatcher. */
export interface DispatcherDeps<TRequest extends ClientRequest> {
  readonly runtime: AppRuntime;
  readonly subscriptions: Subscriptions<TRequest>;
  /** Returns the queue in which a request takes its place. */
  readonly queueOf: (turn: Exclude<Turn, "none">, request: TRequest) => CallQueue;
  /** Whether `resources/subscribe`, which may wait for the application, takes a place as a read. */
  readonly queuesSubscribe?: boolean;
  /** Called when a request is over. */
  readonly onOver?: () => void;
}

/** A request without an answer, or one whose handler still runs. A subscription has no call. */
interface Running<TRequest extends ClientRequest> extends QueuedCall {
  readonly request: TRequest;
  readonly call: CallContext | undefined;
  /** The queue in which the request waits or has its place. */
  queue: CallQueue | undefined;
  /** Whether the request did not start at once. */
  hasWaited: boolean;
  /** Whether the handler was started, and has not settled. */
  isStarted: boolean;
}

/** A request that a handler answers. */
interface Started<TRequest extends ClientRequest> extends Running<TRequest> {
  readonly call: CallContext;
}

function keyOf({ key, frame }: ClientRequest): RequestId {
  return key ?? frame.id;
}

/**
 * Serves the requests of one connection, or requests that stand alone: refuses ids in use, finds the method, queues, runs,
 * answers once, cancels. Knows which handlers run, also after the answer. Its maker closes it.
 */
export class Dispatcher<TRequest extends ClientRequest> {
  readonly #deps: DispatcherDeps<TRequest>;
  readonly #methods: Methods;
  /** Requests without an answer. */
  readonly #open = new SlotMap<RequestId, Running<TRequest>>();
  /** Requests that were answered or cancelled, and whose handlers run on. Created with the first. */
  #overrun: Set<Running<TRequest>> | undefined;
  readonly #onQuiet: (() => void)[] = [];
  readonly #onIdle: (() => void)[] = [];

  constructor(deps: DispatcherDeps<TRequest>) {
    this.#deps = deps;
    this.#methods = methodsOf(deps.runtime);
  }

  /** Returns whether a request of this key has no answer yet. */
  has(key: RequestId): boolean {
    return this.#open.has(key);
  }

  /** Number of requests without an answer. */
  get size(): number {
    return this.#open.size;
  }

  /** Whether no request waits for its answer, and no handler runs. */
  get isIdle(): boolean {
    return this.#open.size === 0 && (this.#overrun?.size ?? 0) === 0;
  }

  /** Requests whose handlers wait or run, also after the answer. */
  get running(): readonly TRequest[] {
    const all = [...this.#open.list(), ...(this.#overrun ?? [])];
    return all.filter(({ call }) => call !== undefined).map(({ request }) => request);
  }

  /** Serves a request. */
  serve(request: TRequest): void {
    const { token, frame } = request;
    const { method: name } = frame;
    const key = keyOf(request);
    if (this.#open.has(key)) return request.answer(duplicateId);
    if (typeof token === "object") return request.answer(token);
    const method = this.#methods[request.era].get(name);
    const state = { queue: undefined, hasWaited: false, isStarted: false };
    if (method === undefined) {
      const running = { request, call: undefined, start: () => this.#subscribe(request), ...state };
      const isQueued = this.#deps.queuesSubscribe === true && name === "resources/subscribe";
      return this.#enter(running, isQueued ? "reads" : "none");
    }
    const call = request.open(token);
    const running: Started<TRequest> = { request, call, start: () => this.#start(running, method), ...state };
    this.#enter(running, method.turn);
  }

  /** Answers a request, unless it is over. */
  answer(key: RequestId, answer: RpcAnswer): void {
    const request = this.#remove(key)?.request;
    if (request === undefined) return;
    const { report } = this.#deps.runtime;
    const { method } = request.frame;
    try {
      request.answer(answer);
    } catch (cause) {
      try {
        request.answer(toInternalAnswer(cause, method, report));
      } catch (again) {
        void internalError(again, `method "${method}"`, report);
      }
    }
  }

  /**
   * Cancels a request of the client, which gets no answer.
   *
   * @param of - cancels only this request: its id may belong to another one.
   */
  cancel(key: RequestId, of?: TRequest): void {
    const running = this.#open.get(key);
    if (running === undefined || (of !== undefined && running.request !== of)) return;
    this.#deps.subscriptions.cancel(key);
    const isWaiting = this.#withdraw(running);
    this.#remove(key);
    if (!isWaiting) running.call?.cancel();
    running.request.cancelled?.();
  }

  /** Resolves when every request has its answer. */
  quiet(): Promise<void> {
    return this.#open.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onQuiet.push(resolve));
  }

  /** Calls `told` when the dispatcher is idle. A handler that never settles keeps it from that. */
  whenIdle(told: () => void): void {
    if (this.isIdle) told();
    else this.#onIdle.push(told);
  }

  /**
   * Aborts every call, and answers every request that waits. Callable twice.
   *
   * @param why - the message for handlers.
   */
  close(why = "the server is closing"): void {
    for (const running of this.#open.list()) {
      const { request, call } = running;
      const isWaiting = this.#withdraw(running);
      if (request.ended !== undefined) this.#remove(keyOf(request));
      if (!isWaiting) call?.abort(new SurfaceError("CLOSED", `Calling: ${why}`));
      if (request.ended !== undefined) request.ended();
      else if (isWaiting) this.answer(keyOf(request), closing);
    }
  }

  #enter(running: Running<TRequest>, turn: Turn): void {
    const { request } = running;
    this.#open.add(keyOf(request), running);
    if (turn === "none") return running.start();
    const queue = this.#deps.queueOf(turn, request);
    running.queue = queue;
    if (queue.add(running)) {
      running.hasWaited = !running.isStarted;
      return;
    }
    running.queue = undefined;
    // Refused and not left unread: behind it there may be a cancellation, a ping or the end of the input.
    this.answer(keyOf(request), busy);
    this.#release(running);
  }

  /** Removes a request from its queue. Returns `false` if it does not wait there. */
  #withdraw(running: Running<TRequest>): boolean {
    if (running.queue?.withdraw(running) !== true) return false;
    running.queue = undefined;
    this.#release(running);
    return true;
  }

  #remove(key: RequestId): Running<TRequest> | undefined {
    const running = this.#open.take(key);
    if (running === undefined) return undefined;
    if (running.call === undefined) this.#release(running);
    else if (running.isStarted) (this.#overrun ??= new Set()).add(running);
    this.#deps.onOver?.();
    this.#tell();
    return running;
  }

  /** Frees the place of a request. */
  #release(running: Running<TRequest>): void {
    const { queue, request, call } = running;
    running.queue = undefined;
    this.#overrun?.delete(running);
    if (call !== undefined) request.released?.();
    queue?.done(request.isUnread);
    this.#tell();
  }

  #tell(): void {
    if (this.#open.size > 0 || this.#onQuiet.length + this.#onIdle.length === 0) return;
    for (const resolve of this.#onQuiet.splice(0)) resolve();
    if (this.isIdle) for (const told of this.#onIdle.splice(0)) told();
  }

  #subscribe(request: TRequest): void {
    const { subscriptions, runtime } = this.#deps;
    const key = keyOf(request);
    try {
      if (!subscriptions.serve(request)) this.answer(key, unknownMethod);
    } catch (cause) {
      subscriptions.cancel(key);
      this.answer(key, toInternalAnswer(cause, request.frame.method, runtime.report));
    }
  }

  #start(running: Started<TRequest>, method: Method): void {
    running.isStarted = true;
    const { request, call } = running;
    const { era, version, log, frame } = request;
    const { method: name, params, text } = frame;
    const { runtime } = this.#deps;
    // The rules may have changed while the request waited for its turn.
    const view = running.hasWaited ? runtime.viewFor(request.caller) : request.view;
    if (view.kind === "error") return this.#settle(running, view);
    const { report } = runtime;
    const answering = runMethod({ name, method, params, request: { era, version, log, call, view, text }, report });
    // A promise only if the handler waits: the handshake is over before the next frame is read.
    if (answering instanceof Promise) void answering.then((answer) => this.#settle(running, answer));
    else this.#settle(running, answering);
  }

  #settle(running: Started<TRequest>, answer: RpcAnswer): void {
    const { written } = running.request;
    if (written === undefined) this.#finish(running, answer);
    else void written.then(() => this.#finish(running, answer));
  }

  #finish(running: Started<TRequest>, answer: RpcAnswer): void {
    const { request, call } = running;
    const { isIdle } = call;
    // A call that was cancelled or timed out keeps its place until its handler settles.
    running.isStarted = !isIdle;
    const key = keyOf(request);
    // A cancelled request is not in the map, and its key may belong to another one.
    if (this.#open.get(key) === running) this.answer(key, answer);
    if (isIdle) this.#release(running);
    else call.whenIdle(() => this.#release(running));
  }
}

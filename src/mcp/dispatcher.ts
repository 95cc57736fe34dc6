import type { CallContext } from "../call/call-context.ts";
import { SurfaceError } from "../errors.ts";
import { SlotMap } from "../spine/slot-map.ts";
import type { Caller } from "../surface/caller.ts";
import { internalError } from "../surface/fault.ts";

import { progressTokenOf } from "./envelope.ts";
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
} from "./protocol.ts";
import type { ResolvedView } from "./resolved-view.ts";
import type { AppRuntime } from "./servable-app.ts";
import type { Queued, StartQueued } from "./turn-queues.ts";

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
  /** Starts a request now or when it is its turn; returns `undefined` if too many wait. */
  readonly take: (turn: Exclude<Turn, "none">, start: StartQueued, request: TRequest) => Queued | undefined;
  /** Whether `resources/subscribe`, which may wait for the application, takes a place as a read. */
  readonly queuesSubscribe?: boolean;
  /** Called when a request is over. */
  readonly onOver?: () => void;
}

/** A request without an answer. A subscription has no call. */
interface Running<TRequest extends ClientRequest> {
  readonly request: TRequest;
  readonly call?: CallContext;
  queued?: Queued | undefined;
  /** Frees the place of a subscription. */
  done?: () => void;
}

/** A request that a handler answers. */
interface Started<TRequest extends ClientRequest> extends Running<TRequest> {
  readonly call: CallContext;
}

function ignore(): void {}

function keyOf({ key, frame }: ClientRequest): RequestId {
  return key ?? frame.id;
}

/**
 * Serves the requests of one connection, or requests that stand alone: refuses ids in use, finds the method, queues, runs,
 * answers once, cancels. Its maker closes it.
 */
export class Dispatcher<TRequest extends ClientRequest> {
  readonly #deps: DispatcherDeps<TRequest>;
  readonly #methods: Methods;
  readonly #running = new SlotMap<RequestId, Running<TRequest>>();
  readonly #onQuiet: (() => void)[] = [];

  constructor(deps: DispatcherDeps<TRequest>) {
    this.#deps = deps;
    this.#methods = methodsOf(deps.runtime);
  }

  /** Returns whether a request of this key has no answer yet. */
  has(key: RequestId): boolean {
    return this.#running.has(key);
  }

  /** Number of requests without an answer. */
  get size(): number {
    return this.#running.size;
  }

  /** Serves a request. */
  serve(request: TRequest): void {
    const { method: name, params } = request.frame;
    const key = keyOf(request);
    if (this.#running.has(key)) return request.answer(duplicateId);
    const token = progressTokenOf(params);
    if (typeof token === "object") return request.answer(token);
    const method = this.#methods[request.era].get(name);
    if (method === undefined) return this.#subscribe(request);
    const running: Started<TRequest> = { request, call: request.open(token) };
    this.#running.add(key, running);
    if (method.turn === "none") return this.#start(running, method, ignore);
    const queued = this.#deps.take(method.turn, (done) => this.#start(running, method, done), request);
    // Refused and not left unread: behind it there may be a cancellation, a ping or the end of the input.
    if (queued === undefined) this.answer(key, busy);
    else running.queued = queued;
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
    const running = this.#running.get(key);
    if (running === undefined || (of !== undefined && running.request !== of)) return;
    this.#deps.subscriptions.cancel(key);
    this.#remove(key);
    if (running.queued?.withdraw() !== true) running.call?.cancel();
    running.request.cancelled?.();
  }

  /** Resolves when every request has its answer. */
  quiet(): Promise<void> {
    return this.#running.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onQuiet.push(resolve));
  }

  /**
   * Aborts every call, and answers every request that waits. Callable twice.
   *
   * @param why - the message for handlers.
   */
  close(why = "the server is closing"): void {
    for (const { request, call, queued } of this.#running.list()) {
      const key = keyOf(request);
      const isWaiting = queued?.withdraw() === true;
      if (request.ended !== undefined) this.#remove(key);
      if (!isWaiting) call?.abort(new SurfaceError("CLOSED", `Calling: ${why}`));
      if (request.ended !== undefined) request.ended();
      else if (isWaiting) this.answer(key, closing);
    }
  }

  #remove(key: RequestId): Running<TRequest> | undefined {
    const running = this.#running.take(key);
    if (running === undefined) return undefined;
    running.done?.();
    this.#deps.onOver?.();
    if (this.#running.size === 0) for (const resolve of this.#onQuiet.splice(0)) resolve();
    return running;
  }

  #subscribe(request: TRequest): void {
    const { take, queuesSubscribe } = this.#deps;
    const key = keyOf(request);
    const running: Running<TRequest> = { request };
    this.#running.add(key, running);
    if (queuesSubscribe !== true || request.frame.method !== "resources/subscribe")
      return this.#serveSubscription(request);
    const start = (done: () => void): void => {
      running.done = done;
      this.#serveSubscription(request);
    };
    const queued = take("reads", start, request);
    if (queued === undefined) this.answer(key, busy);
    else running.queued = queued;
  }

  #serveSubscription(request: TRequest): void {
    const { subscriptions, runtime } = this.#deps;
    const key = keyOf(request);
    try {
      if (!subscriptions.serve(request)) this.answer(key, unknownMethod);
    } catch (cause) {
      subscriptions.cancel(key);
      this.answer(key, toInternalAnswer(cause, request.frame.method, runtime.report));
    }
  }

  #start(running: Started<TRequest>, method: Method, done: () => void): void {
    const { request, call } = running;
    const { era, version, log, frame } = request;
    const { method: name, params, text } = frame;
    const { runtime } = this.#deps;
    // The rules may have changed while the request waited for its turn.
    const view = running.queued === undefined ? request.view : runtime.viewFor(request.caller);
    if (view.kind === "error") return this.#settle(running, view, done);
    const { report } = runtime;
    const answering = runMethod({ name, method, params, request: { era, version, log, call, view, text }, report });
    // A promise only if the handler waits: the handshake is over before the next frame is read.
    if (answering instanceof Promise) void answering.then((answer) => this.#settle(running, answer, done));
    else this.#settle(running, answering, done);
  }

  #settle(running: Started<TRequest>, answer: RpcAnswer, done: () => void): void {
    const { written } = running.request;
    if (written === undefined) this.#finish(running, answer, done);
    else void written.then(() => this.#finish(running, answer, done));
  }

  #finish(running: Started<TRequest>, answer: RpcAnswer, done: () => void): void {
    const key = keyOf(running.request);
    // A cancelled request is not in the map, and its key may belong to another one.
    if (this.#running.get(key) === running) this.answer(key, answer);
    // A call that was cancelled or timed out keeps its place until its handler settles.
    running.call.whenIdle(done);
  }
}

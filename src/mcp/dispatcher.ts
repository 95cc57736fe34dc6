import type { CallContext } from "../call/call-context.ts";
import { SurfaceError } from "../errors.ts";
import { SlotMap } from "../spine/slot-map.ts";
import type { Caller } from "../surface/caller.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";

import { progressTokenOf } from "./envelope.ts";
import { runMethod, toInternalAnswer, type Method, type Methods, type Turn } from "./methods.ts";
import type { RequestFrame } from "./parse-frame.ts";
import type { Era, LogLevels, RpcAnswer } from "./protocol.ts";
import { busy, closing, duplicateId, unknownMethod } from "./refusals.ts";
import type { RequestId } from "./request-id.ts";
import type { SubscriptionSession } from "./subscriptions/subscription-session.ts";
import type { Queued, StartQueued } from "./turn-queues.ts";

/** A request of a client, and the way back to the client. */
export interface ClientRequest {
  readonly frame: RequestFrame;
  readonly era: Era;
  readonly caller: Caller;
  /** Protocol version of the handshake; `undefined` for clients without one. */
  readonly version: string | undefined;
  readonly log: LogLevels;
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

/** Dependencies of a dispatcher. */
export interface DispatcherDeps<TRequest extends ClientRequest> {
  readonly methods: Methods;
  readonly report: FaultReporter;
  /** Answers its requests through {@link Dispatcher.answer}. */
  readonly subscriptions: Pick<SubscriptionSession, "serve" | "cancel">;
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

/**
 * Serves the requests of one connection: refuses ids in use, finds the method, queues, runs, answers once, cancels. Whoever made
 * it closes it.
 */
export class Dispatcher<TRequest extends ClientRequest> {
  readonly #deps: DispatcherDeps<TRequest>;
  readonly #running = new SlotMap<RequestId, Running<TRequest>>();
  readonly #onQuiet: (() => void)[] = [];

  constructor(deps: DispatcherDeps<TRequest>) {
    this.#deps = deps;
  }

  /** Returns whether a request of this id has no answer yet. */
  has(id: RequestId): boolean {
    return this.#running.has(id);
  }

  /** Number of requests without an answer. */
  get size(): number {
    return this.#running.size;
  }

  /** Serves a request. */
  serve(request: TRequest): void {
    const { id, method: name, params } = request.frame;
    if (this.#running.has(id)) return request.answer(duplicateId);
    const token = progressTokenOf(params);
    if (typeof token === "object") return request.answer(token);
    const method = this.#deps.methods[request.era].get(name);
    if (method === undefined) return this.#subscribe(request);
    const running: Started<TRequest> = { request, call: request.open(token) };
    this.#running.add(id, running);
    if (method.turn === "none") return this.#start(running, method, ignore);
    const queued = this.#deps.take(method.turn, (done) => this.#start(running, method, done), request);
    // Refused and not left unread: behind it there may be a cancellation, a ping or the end of the input.
    if (queued === undefined) this.answer(id, busy);
    else running.queued = queued;
  }

  /** Answers a request, unless it is over. */
  answer(id: RequestId, answer: RpcAnswer): void {
    const request = this.#remove(id)?.request;
    if (request === undefined) return;
    const { report } = this.#deps;
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
  cancel(id: RequestId, of?: TRequest): void {
    const running = this.#running.get(id);
    if (running === undefined || (of !== undefined && running.request !== of)) return;
    this.#deps.subscriptions.cancel(id);
    this.#remove(id);
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
      const { id } = request.frame;
      const isWaiting = queued?.withdraw() === true;
      if (request.ended !== undefined) this.#remove(id);
      if (!isWaiting) call?.abort(new SurfaceError("CLOSED", `Calling: ${why}`));
      if (request.ended !== undefined) request.ended();
      else if (isWaiting) this.answer(id, closing);
    }
  }

  #remove(id: RequestId): Running<TRequest> | undefined {
    const running = this.#running.take(id);
    if (running === undefined) return undefined;
    running.done?.();
    this.#deps.onOver?.();
    if (this.#running.size === 0) for (const resolve of this.#onQuiet.splice(0)) resolve();
    return running;
  }

  #subscribe(request: TRequest): void {
    const { take, queuesSubscribe } = this.#deps;
    const { id, method } = request.frame;
    const running: Running<TRequest> = { request };
    this.#running.add(id, running);
    if (queuesSubscribe !== true || method !== "resources/subscribe") return this.#serveSubscription(request);
    const start = (done: () => void): void => {
      running.done = done;
      this.#serveSubscription(request);
    };
    const queued = take("reads", start, request);
    if (queued === undefined) this.answer(id, busy);
    else running.queued = queued;
  }

  #serveSubscription({ frame, era, caller }: TRequest): void {
    const { subscriptions, report } = this.#deps;
    try {
      if (!subscriptions.serve(frame, era, caller)) this.answer(frame.id, unknownMethod);
    } catch (cause) {
      subscriptions.cancel(frame.id);
      this.answer(frame.id, toInternalAnswer(cause, frame.method, report));
    }
  }

  #start(running: Started<TRequest>, method: Method, done: () => void): void {
    const { request, call } = running;
    const { era, version, log, frame } = request;
    const { method: name, params } = frame;
    const { report } = this.#deps;
    const answering = runMethod({ name, method, params, request: { era, version, log, call }, report });
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
    const { id } = running.request.frame;
    // A cancelled request is not in the map, and its id may belong to another one.
    if (this.#running.get(id) === running) this.answer(id, answer);
    // A call that was cancelled or timed out keeps its place until its handler settles.
    running.call.whenIdle(done);
  }
}

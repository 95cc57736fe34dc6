import { SurfaceError } from "../errors.ts";
import { SlotMap } from "../spine/slot-map.ts";
import { internalError } from "../surface/fault.ts";
import type { CallQueue } from "./call-queue.ts";
import { methodsOf, toInternalAnswer, type Methods, type Turn } from "./methods.ts";
import { downgrade } from "./protocol-features.ts";
import { busy, closing, duplicateId, newestLegacyVersion, unknownMethod } from "./protocol.ts";
import type { RequestId, RpcAnswer } from "./protocol.ts";
import { hasHandler, keyOf, Running, type ClientRequest, type HandlerRun } from "./running-request.ts";
import type { AppRuntime } from "./servable-app.ts";

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
  /** Requests that start when everything that came with them is read. */
  readonly #starting: HandlerRun<TRequest>[] = [];
  readonly #begin = (running: Running<TRequest>): void => {
    if (!hasHandler(running)) return this.#subscribe(running.request);
    running.isStarted = true;
    if (running.method.turn === "none") return this.#start(running);
    // A cancellation that came in one piece with its request still keeps the handler from running.
    if (this.#starting.push(running) === 1) queueMicrotask(this.#startAll);
  };
  readonly #startAll = (): void => {
    for (const [index, running] of this.#starting.splice(0).entries()) {
      // A handler that ran before it may have changed the rules.
      running.hasWaited ||= index > 0;
      this.#start(running);
    }
  };

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
    const running = new Running(request, method, this.#begin);
    if (method === undefined) {
      const isQueued = this.#deps.queuesSubscribe === true && name === "resources/subscribe";
      return this.#enter(running, isQueued ? "reads" : "none");
    }
    running.call = request.open(token);
    this.#enter(running, method.turn);
  }

  /** Answers a request, unless it is over. */
  answer(key: RequestId, answer: RpcAnswer): void {
    const request = this.#remove(key)?.request;
    if (request === undefined) return;
    const { report } = this.#deps.runtime;
    const { method } = request.frame;
    try {
      const { version } = request;
      request.answer(version !== undefined && version < newestLegacyVersion ? downgrade(answer, version) : answer);
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

  #start(running: HandlerRun<TRequest>): void {
    const { request, method } = running;
    const { runtime } = this.#deps;
    const fail = (cause: unknown): void => {
      this.#settle(running, toInternalAnswer(cause, request.frame.method, runtime.report));
    };
    let answering: RpcAnswer | Promise<RpcAnswer>;
    try {
      // The rules may have changed while the request waited for its turn.
      const view = running.hasWaited ? runtime.viewFor(request.caller) : request.view;
      if (view.kind !== "error") running.view = view;
      answering = view.kind === "error" ? view : method.run(request.frame.params, running);
    } catch (cause) {
      return fail(cause);
    }
    // A promise only if the handler waits: the handshake is over before the next frame is read.
    if (answering instanceof Promise) void answering.then((answer) => this.#settle(running, answer), fail);
    else this.#settle(running, answering);
  }

  #settle(running: HandlerRun<TRequest>, answer: RpcAnswer): void {
    const { written } = running.request;
    if (written === undefined) this.#finish(running, answer);
    else void written.then(() => this.#finish(running, answer));
  }

  #finish(running: HandlerRun<TRequest>, answer: RpcAnswer): void {
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

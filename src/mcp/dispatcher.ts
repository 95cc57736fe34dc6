import type { CallContext } from "../call/call-context.ts";
import { SurfaceError } from "../errors.ts";
import { SlotMap } from "../spine/collections.ts";
import type { Caller } from "../surface/caller.ts";
import { internalError } from "../surface/fault.ts";
import { readTraceContext, type TraceContext } from "../surface/trace-context.ts";
import type { ObservedChannel } from "../observe/observed-channel.ts";
import { observeRequest, tellRefused, type ObservedRequest } from "./observed-request.ts";
import { capabilitiesOf } from "./envelope.ts";
import { readClientExtensions, type ClientExtension } from "./extensions/extensions.ts";
import { methodsOf, type Method, type Methods, type Turn } from "./methods.ts";
import type { RequestFrame } from "./parse-frame.ts";
import { downgrade } from "./protocol-features.ts";
import {
  busy,
  closing,
  duplicateId,
  metaOf,
  newestLegacyVersion,
  toInternalAnswer,
  unknownMethod,
  unrecorded,
  type Era,
  type LogLevels,
  type RequestId,
  type RpcAnswer,
  type RpcError,
} from "./protocol.ts";
import type { ResolvedView } from "./resolved-view.ts";
import type { AppRuntime } from "./servable-app.ts";

/** A request that needs a place. */
export interface QueuedCall {
  /** Called when the request has its place. It calls {@link CallQueue.done} once. */
  start(): void;
}

/** Calls that run at once on one connection, by default. */
const defaultRunning = 64;

/** Calls that wait; a further one is refused. */
const maxWaiting = 256;

/** Starts requests in order, only so many at once, and none while it is held. */
export class CallQueue {
  /** Created for the first request that waits: most start at once. */
  #waiting: Set<QueuedCall> | undefined;
  readonly #maxRunning: number;
  readonly #onIdle: (() => void) | undefined;
  #running = 0;
  #held = false;

  /** @param onIdle - called whenever nothing runs or waits any more. */
  constructor(maxRunning: number = defaultRunning, onIdle?: () => void) {
    this.#maxRunning = maxRunning;
    this.#onIdle = onIdle;
  }

  /** Starts a request now or when there is room. Returns `false` if too many wait. */
  add(call: QueuedCall): boolean {
    if (!this.#held && this.#running < this.#maxRunning) {
      this.#start(call);
      return true;
    }
    const waiting = (this.#waiting ??= new Set());
    if (waiting.size >= maxWaiting) return false;
    waiting.add(call);
    return true;
  }

  /** Removes a request that waits. Returns `false` if it was started. */
  withdraw(call: QueuedCall): boolean {
    return this.#waiting?.delete(call) === true;
  }

  /**
   * Frees the place of a request, and starts the next.
   *
   * @param isUnread - the system has not taken the answer: the next requests start one in each turn of the event loop, so that
   * the sockets of other clients come between. One, because Node accepts one connection a turn.
   */
  done(isUnread = false): void {
    this.#running -= 1;
    if (isUnread && !this.#held) this.#rest();
    this.#startWaiting();
  }

  /** Starts nothing until it is released: there is no room for answers. Running requests go on. */
  hold(held: boolean): void {
    this.#held = held;
    this.#startWaiting();
  }

  #rest(): void {
    this.#held = true;
    const startNext = (): void => {
      const [next] = this.#waiting ?? [];
      if (next === undefined || this.#running >= this.#maxRunning) return this.hold(false);
      this.#waiting?.delete(next);
      this.#start(next);
      setImmediate(startNext);
    };
    setImmediate(startNext);
  }

  #startWaiting(): void {
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      for (const call of waiting) {
        // Read each time: a call that answers at once may fill the output.
        if (this.#held || this.#running >= this.#maxRunning) return;
        waiting.delete(call);
        this.#start(call);
      }
    }
    if (this.#running === 0 && !this.#held) this.#onIdle?.();
  }

  #start(call: QueuedCall): void {
    this.#running += 1;
    call.start();
  }
}

/** The queues of one connection. Reads have their own: calls may run for minutes, and a read must not wait behind them. */
export type TurnQueues = Readonly<Record<Exclude<Turn, "none">, CallQueue>>;

/** Creates the queues of one connection. */
export function createQueues(maxRunning?: number): TurnQueues {
  return { calls: new CallQueue(maxRunning), reads: new CallQueue(maxRunning) };
}

/** A request whose caller is shown a view. */
export interface AdmittedRequest {
  readonly frame: RequestFrame;
  readonly caller: Caller;
  readonly view: ResolvedView;
}

/**
 * A request of a client, and the way back to the client. Every transport extends it. The dispatcher keeps its own state in it, so
 * that there is one object a request, and hands it to the handler.
 */
export abstract class ClientRequest implements QueuedCall {
  /** Read again for retries. A subscription keeps no params. */
  frame: RequestFrame;
  /** Key among the running requests: the id, or another one if each request stands alone. */
  readonly key: RequestId;
  readonly era: Era;
  readonly caller: Caller;
  /** The view of the caller when the request arrived, or when its handler started. */
  view: ResolvedView;
  /** Protocol version of the handshake; `undefined` for clients without one. */
  abstract readonly version: string | undefined;
  /** Log of the client; `undefined` for clients without a level of their own. */
  abstract readonly log: LogLevels | undefined;
  /** The progress token, or what is wrong with it. */
  abstract readonly token: string | number | undefined | RpcError;
  /** Only the dispatcher changes this field and those below. */
  dispatcher: { begin(request: ClientRequest): void } | undefined;
  /** `undefined` for subscriptions, as is `call`. */
  method: Method | undefined;
  call: CallContext | undefined;
  /** The records of the request; `undefined` without observers. */
  observed: ObservedRequest | undefined;
  /** The queue in which the request waits or has its place. */
  queue: CallQueue | undefined;
  /** The trace context of the transport, for a request whose `_meta` has none. Set by transports that have one. */
  outerTrace: TraceContext | undefined;
  /** Whether the request did not start at once. */
  hasWaited = false;
  /** Whether the handler was started, and has not settled. */
  isStarted = false;

  constructor({ frame, caller, view }: AdmittedRequest, era: Era, key: RequestId = frame.id) {
    this.frame = frame;
    this.key = key;
    this.era = era;
    this.caller = caller;
    this.view = view;
  }

  get text(): string | undefined {
    return this.frame.text;
  }

  /** The extensions that the client can use. Read on demand: only some lists depend on it. */
  get extensions(): ReadonlySet<ClientExtension> {
    return readClientExtensions(capabilitiesOf(this.frame.params));
  }

  /** The trace context of `_meta`, else that of the transport. Read on demand: most handlers never use it. */
  get trace(): TraceContext | undefined {
    return readTraceContext(metaOf(this.frame.params)) ?? this.outerTrace;
  }

  /** Resolves when the answer may follow the progress of the call; `undefined`: now. */
  get written(): Promise<void> | undefined {
    return undefined;
  }

  /** True until the system has taken the whole answer. */
  get isUnread(): boolean {
    return false;
  }

  start(): void {
    this.dispatcher?.begin(this);
  }

  /** Creates the context of the call. Called once, if a handler runs. */
  abstract open(token: string | number | undefined): CallContext;
  /** Delivers the answer. Called at most once, and not after {@link cancelled}. */
  abstract answer(answer: RpcAnswer): void;
  /** Takes note that the client cancelled the request. */
  cancelled?(): void;
  /** Takes note that the server closes, and answers for itself. Left out: the aborted handler answers. */
  ended?(): void;
  /** Called when the request begins to wait or run. */
  held?(): void;
  /** Called after {@link held} when the request neither waits nor runs any more. Callable twice. */
  released?(): void;
}

/** A request that a handler answers. */
type HandledRequest<TRequest extends ClientRequest> = TRequest & {
  readonly method: Method;
  readonly call: CallContext;
};

function hasHandler<TRequest extends ClientRequest>(request: TRequest): request is HandledRequest<TRequest> {
  return request.method !== undefined && request.call !== undefined;
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
  readonly channel: ObservedChannel;
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
  readonly #open = new SlotMap<RequestId, TRequest>();
  /** Requests that were answered or cancelled, and whose handlers run on. Created with the first. */
  #overrun: Set<TRequest> | undefined;
  readonly #onQuiet: (() => void)[] = [];
  readonly #onIdle: (() => void)[] = [];
  /** Requests that start when everything that came with them is read. */
  readonly #starting: HandledRequest<TRequest>[] = [];
  readonly #startAll = (): void => {
    for (const [index, request] of this.#starting.splice(0).entries()) {
      // A handler that ran before it may have changed the rules.
      request.hasWaited ||= index > 0;
      this.#start(request);
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

  /** True if no request waits for its answer, and no handler runs. */
  get isIdle(): boolean {
    return this.#open.size === 0 && (this.#overrun?.size ?? 0) === 0;
  }

  /** Requests whose handlers wait or run, also after the answer. */
  get running(): readonly TRequest[] {
    const all = [...this.#open.list(), ...(this.#overrun ?? [])];
    return all.filter(({ call }) => call !== undefined);
  }

  /** Serves a request. */
  serve(request: TRequest): void {
    const { token, key } = request;
    const name = request.frame.method;
    if (this.#open.has(key)) return this.#refuse(request, duplicateId);
    if (typeof token === "object") return this.#refuse(request, token);
    const method = this.#methods[request.era].get(name);
    const { runtime, channel } = this.#deps;
    const isObserved = runtime.observers.all !== undefined;
    request.dispatcher = this;
    request.method = method;
    if (method === undefined) {
      if (isObserved) request.observed = observeRequest(runtime.observers, request, channel);
      const isQueued = this.#deps.queuesSubscribe === true && name === "resources/subscribe";
      return this.#enter(request, isQueued ? "reads" : "none");
    }
    request.call = request.open(token);
    request.call.request = request;
    if (isObserved) request.observed = observeRequest(runtime.observers, request, channel);
    this.#enter(request, method.turn);
  }

  /** Starts a request that has its place. Only {@link ClientRequest} calls it. */
  begin(request: TRequest): void {
    if (!hasHandler(request)) return this.#subscribe(request);
    request.isStarted = true;
    if (request.method.turn === "none") return this.#start(request);
    // A cancellation that came in one piece with its request still keeps the handler from running.
    if (this.#starting.push(request) === 1) queueMicrotask(this.#startAll);
  }

  /** Answers a request, unless it is over. */
  answer(key: RequestId, answer: RpcAnswer): void {
    const request = this.#remove(key);
    if (request === undefined) return;
    const { report } = this.#deps.runtime;
    const { method } = request.frame;
    // Before the answer: a client that has it may count on the record.
    request.observed?.answered(answer);
    try {
      const { version } = request;
      request.answer(version !== undefined && version < newestLegacyVersion ? downgrade(answer, version) : answer);
    } catch (cause) {
      try {
        request.answer(toInternalAnswer(cause, `method "${method}"`, report));
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
    const request = this.#open.get(key);
    if (request === undefined || (of !== undefined && request !== of)) return;
    this.#deps.subscriptions.cancel(key);
    const isWaiting = this.#withdraw(request);
    this.#remove(key);
    request.observed?.dropped("cancelled");
    if (!isWaiting) request.call?.cancel();
    request.cancelled?.();
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
   * Aborts every call, and answers every other request at once. Callable twice.
   *
   * @param why - the message for handlers.
   */
  close(why = "the server is closing"): void {
    for (const request of this.#open.list()) {
      const isWaiting = this.#withdraw(request);
      if (request.ended !== undefined) {
        this.#remove(request.key);
        request.observed?.dropped("closed");
      }
      if (!isWaiting) request.call?.abort(new SurfaceError("CLOSED", `Calling: ${why}`));
      if (request.ended !== undefined) request.ended();
      else if (isWaiting || request.call === undefined) this.answer(request.key, closing);
    }
  }

  /** Answers a request that cannot start. */
  #refuse(request: TRequest, error: RpcError): void {
    const { runtime, channel } = this.#deps;
    const { caller } = request;
    if (runtime.observers.all !== undefined) tellRefused(runtime.observers, { error, channel, caller });
    request.answer(error);
  }

  #enter(request: TRequest, turn: Turn): void {
    this.#open.add(request.key, request);
    request.held?.();
    if (turn === "none") return this.begin(request);
    const queue = this.#deps.queueOf(turn, request);
    request.queue = queue;
    if (queue.add(request)) {
      request.hasWaited = !request.isStarted;
      return;
    }
    request.queue = undefined;
    // Refused and not left unread: behind it there may be a cancellation, a ping or the end of the input.
    this.answer(request.key, busy);
    this.#release(request);
  }

  /** Removes a request from its queue. Returns `false` if it does not wait there. */
  #withdraw(request: TRequest): boolean {
    if (request.queue?.withdraw(request) !== true) return false;
    request.queue = undefined;
    this.#release(request);
    return true;
  }

  #remove(key: RequestId): TRequest | undefined {
    const request = this.#open.take(key);
    if (request === undefined) return undefined;
    if (request.call === undefined) this.#release(request);
    else if (request.isStarted) (this.#overrun ??= new Set()).add(request);
    this.#deps.onOver?.();
    this.#tell();
    return request;
  }

  /** Frees the place of a request. */
  #release(request: TRequest): void {
    const { queue } = request;
    request.queue = undefined;
    this.#overrun?.delete(request);
    request.released?.();
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
    const { key } = request;
    try {
      if (!subscriptions.serve(request)) this.answer(key, unknownMethod);
    } catch (cause) {
      subscriptions.cancel(key);
      this.answer(key, toInternalAnswer(cause, `method "${request.frame.method}"`, runtime.report));
    }
  }

  #start(request: HandledRequest<TRequest>): void {
    const { observed } = request;
    if (observed?.isGuarded !== true) this.#run(request);
    else this.#runObserved(request, observed);
  }

  /** Runs a request that the observers admit, within their contexts. */
  #runObserved(request: HandledRequest<TRequest>, observed: ObservedRequest): void {
    const run = (isAdmitted: boolean): void => {
      if (isAdmitted) observed.run(() => this.#run(request));
      else this.#settle(request, unrecorded);
    };
    const admitting = observed.admit();
    if (!(admitting instanceof Promise)) return run(admitting);
    request.hasWaited = true;
    void admitting.then(run);
  }

  #run(request: HandledRequest<TRequest>): void {
    const { runtime } = this.#deps;
    const fail = (cause: unknown): void => {
      this.#settle(request, toInternalAnswer(cause, `method "${request.frame.method}"`, runtime.report));
    };
    let answering: RpcAnswer | Promise<RpcAnswer>;
    try {
      // The rules may have changed while the request waited for its turn.
      const view = request.hasWaited ? runtime.viewFor(request.caller) : request.view;
      if (view.kind !== "error") request.view = view;
      answering = view.kind === "error" ? view : request.method.run(request.frame.params, request);
    } catch (cause) {
      return fail(cause);
    }
    // A promise only if the handler waits: the handshake is over before the next frame is read.
    if (answering instanceof Promise) void answering.then((answer) => this.#settle(request, answer), fail);
    else this.#settle(request, answering);
  }

  #settle(request: HandledRequest<TRequest>, answer: RpcAnswer): void {
    const { written } = request;
    if (written === undefined) this.#finish(request, answer);
    else void written.then(() => this.#finish(request, answer));
  }

  #finish(request: HandledRequest<TRequest>, answer: RpcAnswer): void {
    const { call, key } = request;
    const { isIdle } = call;
    // A call that was cancelled or timed out keeps its place until its handler settles.
    request.isStarted = !isIdle;
    // A cancelled request is not in the map, and its key may belong to another one.
    if (this.#open.get(key) === request) this.answer(key, answer);
    if (isIdle) this.#release(request);
    else call.whenIdle(() => this.#release(request));
  }
}

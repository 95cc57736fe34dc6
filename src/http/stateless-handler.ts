import { CallContext } from "../call/call-context.ts";
import type { LogLevel } from "../catalog/entry.ts";
import { ClientRequest, Dispatcher, type AdmittedRequest } from "../mcp/dispatcher.ts";
import { logLevelOf } from "../mcp/envelope.ts";
import { toLogSink, toProgressSink } from "../mcp/notifications.ts";
import {
  closing,
  progressTokenOf,
  rpcCodes,
  toRpcError,
  type RequestId,
  type RpcAnswer,
  type RpcError,
} from "../mcp/protocol.ts";
import type { RequestFrame } from "../mcp/parse-frame.ts";
import type { ResolvedView } from "../mcp/resolved-view.ts";
import { Listens } from "../mcp/subscriptions/listens.ts";
import { Outbox, type WatchDeps } from "../mcp/subscriptions/topic-watch.ts";
import { ObservedChannel, observeStream } from "../observe/observed-channel.ts";
import { isRefused, type Permit } from "./admission.ts";
import { onTokenExpiry } from "./auth/verdict.ts";
import type { HeldBytes } from "./body.ts";
import { acceptsType } from "./check-head.ts";
import type { HttpDeps } from "./http-deps.ts";
import type { EventSink, HttpExchange, HttpReply } from "./message.ts";
import { readTraceHeaders } from "./check-envelope.ts";
import { eventStreamHeaders, keepAliveComment, toEvent, StallTimer } from "./sse.ts";

/** Dependencies of the requests of one handler. */
interface RequestDeps {
  readonly http: HttpDeps;
  /** Returns a key that no other request has: ids of different clients may be equal. */
  readonly nextKey: () => number;
  /** Counts a message that is dropped because its client does not read. */
  readonly dropped: () => void;
  /** Called when the client left before the answer. */
  readonly left: (request: StatelessRequest) => void;
}

/** {@link StatelessRequest} drops messages itself, and counts them. */
const isFull = (): boolean => false;

/**
 * One request of a client without a session, and its answer: JSON, or a stream of events. Writes nothing after the answer.
 */
class StatelessRequest extends ClientRequest {
  readonly version = undefined;
  readonly log = undefined;
  readonly token: ReturnType<typeof progressTokenOf>;
  /** Whether the client reads streams. */
  readonly isStreamable: boolean;
  /** Called when the client reads again. */
  onDrain: (() => void) | undefined;
  readonly #deps: RequestDeps;
  readonly #reply: HttpReply;
  #bytes: HeldBytes | undefined;
  /** Lowest level of the call's log that the client reads. */
  readonly #logLevel: LogLevel | undefined;
  /**
   * `json`: one piece. `either`: a stream if there is a message before the answer. `stream`: a result is always a stream, which is
   * kept alive; an error before any message is one piece.
   */
  readonly #answering: "json" | "either" | "stream";
  /** Created with the stream. */
  #stall: StallTimer | undefined;
  #sink: EventSink | undefined;
  #stopQuietTimer: (() => void) | undefined;
  #isOver = false;

  constructor(deps: RequestDeps, { request, reply, bytes }: HttpExchange, admitted: AdmittedRequest) {
    super(admitted, "modern", deps.nextKey());
    this.outerTrace = readTraceHeaders(request);
    const { params } = admitted.frame;
    this.#deps = deps;
    this.#reply = reply;
    this.#bytes = bytes;
    this.isStreamable = acceptsType(request.header("accept"), "text/event-stream");
    this.token = progressTokenOf(params);
    const isReporting = this.isStreamable && this.token !== undefined && typeof this.token !== "object";
    this.#logLevel = this.isStreamable ? logLevelOf(params) : undefined;
    // A client that asks only for the log gets it while the call runs; without messages its answer is one piece.
    this.#answering = isReporting ? "stream" : this.#logLevel === undefined ? "json" : "either";
    const onGone = (): void => this.#leave();
    reply.onGone = onGone;
    const { clock, bounds } = deps.http;
    if (!isReporting || bounds.keepAliveMs === 0) return;
    this.#stopQuietTimer = clock.after(bounds.keepAliveMs, () => this.#stream().write(keepAliveComment));
  }

  override get isUnread(): boolean {
    return (this.#reply.heldBytes ?? 0) > 0;
  }

  open(token: string | number | undefined): CallContext {
    const { runtime, counters, limiter } = this.#deps.http;
    const isReporting = token !== undefined && this.isStreamable;
    const level = runtime.logs ? this.#logLevel : undefined;
    const output = { send: (json: string) => this.#tell(json), isFull };
    return new CallContext({
      sink: isReporting ? toProgressSink(token, output) : undefined,
      log: level && toLogSink(level, output),
      caller: this.caller,
      reached: counters.reached,
      limiter,
    });
  }

  /** Opens the stream, and forgets the params, which may be large: a subscription stays open for long. */
  listen(): void {
    const { kind, id, method } = this.frame;
    this.frame = { kind, id, method, params: undefined };
    this.released();
    this.#stream();
  }

  override held(): void {
    this.#bytes?.hold();
  }

  override released(): void {
    this.#bytes?.release();
    this.#bytes = undefined;
  }

  /** Writes a message on the stream. Returns whether the client is slow. */
  write(json: string): boolean {
    if (this.#isOver) return false;
    const sink = this.#stream();
    sink.write(toEvent(json));
    this.#stall?.update(sink.isFull);
    return sink.isFull;
  }

  answer(answer: RpcAnswer): void {
    if (this.#isOver) return;
    const { responder } = this.#deps.http;
    const { id } = this.frame;
    if (this.#sink === undefined && (this.#answering !== "stream" || answer.kind === "error")) {
      responder.answer(this.#reply, answer, { id, era: "modern" });
      this.#end();
      return;
    }
    // The stall timer runs until the client has read the answer.
    this.write(responder.render(id, answer, "modern"));
    this.#end();
    this.#sink?.end();
  }

  /** Opens the stream, if it is not open. */
  #stream(): EventSink {
    if (this.#sink !== undefined) return this.#sink;
    this.#stopQuietTimer?.();
    const { clock, bounds, keepAlive } = this.#deps.http;
    const sink = this.#reply.stream(eventStreamHeaders);
    const stall = new StallTimer(clock, bounds.stallMs, () => {
      sink.destroy();
      this.#leave();
    });
    this.#sink = sink;
    this.#stall = stall;
    const onDrain = (): void => {
      stall.update(false);
      this.onDrain?.();
    };
    sink.onDrain = onDrain;
    keepAlive.join(sink);
    return sink;
  }

  /** Writes a message before the answer. Drops it, and counts that, if the client does not read. */
  #tell(json: string): void {
    if (this.#isOver) return;
    if (this.#sink?.isFull === true) this.#deps.dropped();
    else this.write(json);
  }

  #end(): void {
    this.#isOver = true;
    this.#stopQuietTimer?.();
    if (this.#sink !== undefined) this.#deps.http.keepAlive.leave(this.#sink);
  }

  #leave(): void {
    this.#stall?.close();
    // A client that leaves after the answer cancels nothing.
    if (this.#isOver) return;
    this.#end();
    this.#deps.left(this);
  }
}

/** A request without a session, with the view of its caller or the error of a denied view. */
type ViewedRequest = Omit<AdmittedRequest, "view"> & { readonly view: ResolvedView | RpcError };

const unreadable = toRpcError(rpcCodes.invalidRequest, 'Invalid request: "Accept" must allow "text/event-stream"');

/** Serves clients from 2026-07-28 on, whose requests need no session. Call `close()` when done. */
export class StatelessHandler {
  readonly #http: HttpDeps;
  readonly #dispatcher: Dispatcher<StatelessRequest>;
  readonly #listens: ListenStreams;
  readonly #requests: RequestDeps;
  #count = 0;
  #isClosing = false;
  #dropped = 0;

  constructor(http: HttpDeps) {
    const { runtime, admission } = http;
    this.#http = http;
    this.#listens = new ListenStreams(http, (key, answer) => this.#dispatcher.answer(key, answer));
    this.#dispatcher = new Dispatcher<StatelessRequest>({
      runtime,
      channel: new ObservedChannel(runtime.observers, "http"),
      subscriptions: this.#listens,
      queueOf: (turn, { caller }) => admission.queueOf(turn, caller),
    });
    this.#requests = {
      http,
      nextKey: () => (this.#count += 1),
      dropped: () => (this.#dropped += 1),
      left: ({ key }) => this.#dispatcher.cancel(key),
    };
  }

  /** Serves a request whose headers agree with its body. */
  request(exchange: HttpExchange, { frame, caller, view }: ViewedRequest): void {
    const { reply } = exchange;
    if (this.#isClosing) return this.#refuse(exchange, frame, closing);
    this.#http.counters.reached("caps");
    if (view.kind === "error") return this.#refuse(exchange, frame, view);
    // The client left while the body was read.
    if (reply.isOver) return;
    const request = new StatelessRequest(this.#requests, exchange, { frame, caller, view });
    const { token } = request;
    if (typeof token === "object") return this.#refuse(exchange, frame, token, 400);
    if (frame.method === "subscriptions/listen" && !request.isStreamable) {
      return this.#refuse(exchange, frame, unreadable, 406);
    }
    this.#dispatcher.serve(request);
  }

  /** @param status - @default the status of the error */
  #refuse(
    exchange: HttpExchange,
    { id }: RequestFrame,
    ...[error, status]: readonly [RpcError, status?: number]
  ): void {
    const answered = { id, era: "modern", ...(status === undefined ? {} : { status }) } as const;
    this.#http.responder.refuse(exchange, error, answered);
  }

  /** Number of messages that were dropped unsent. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Ends every subscription with its result, and refuses new requests. Resolves when every request has its answer. */
  drain(): Promise<void> {
    this.#isClosing = true;
    this.#listens.end();
    return this.#dispatcher.quiet();
  }

  /** Aborts running handlers. Callable twice. */
  close(): Promise<void> {
    // Subscriptions end with their own result.
    const drained = this.drain();
    this.#dispatcher.close();
    return drained;
  }

  /** Resolves when no handler runs. A handler that never settles keeps it from that. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.#dispatcher.whenIdle(resolve));
  }

  /** Requests whose handlers run, also after the answer. */
  get running(): readonly ClientRequest[] {
    return this.#dispatcher.running;
  }
}

/** An open subscription. */
interface OpenListen {
  readonly request: StatelessRequest;
  readonly listens: Listens;
  permit: Permit;
  stopExpiry?: () => void;
}

/**
 * The subscriptions of all clients without a session, each with the stream of its request: the acknowledgement first, then changes,
 * its result last. While a stream is full, one bit is kept for each topic. A subscription ends with its caller's token.
 */
class ListenStreams {
  readonly #http: HttpDeps;
  readonly #answer: (key: RequestId, answer: RpcAnswer) => void;
  readonly #open = new Map<RequestId, OpenListen>();

  /** @param answer - answers a request, which ends its subscription. */
  constructor(http: HttpDeps, answer: (key: RequestId, answer: RpcAnswer) => void) {
    this.#http = http;
    this.#answer = answer;
  }

  /** Serves a request. Returns `false` if it opens no subscription. */
  serve(request: StatelessRequest): boolean {
    const { frame, key, caller } = request;
    if (frame.method !== "subscriptions/listen") return false;
    const { admission, clock } = this.#http;
    const permit = admission.openStream(caller);
    if (isRefused(permit)) {
      this.#answer(key, toRpcError(rpcCodes.busy, "Server busy: too many streams are open", permit));
      return true;
    }
    const open: OpenListen = { request, listens: this.#createListens(request), permit };
    this.#open.set(key, open);
    const refusal = open.listens.open(frame, caller);
    if (refusal !== undefined) this.#complete(key, refusal);
    // The client may have left, or the token may have expired, during the first message.
    if (!this.#open.has(key)) return true;
    open.permit = observeStream(this.#http.runtime.observers, { caller }, permit);
    request.listen();
    open.stopExpiry = onTokenExpiry(clock, caller, () => open.listens.close());
    return true;
  }

  /** Ends a subscription without its result: the client has left. */
  cancel(key: RequestId): void {
    const open = this.#forget(key);
    open?.listens.cancel(open.request.frame.id);
  }

  /** Ends all subscriptions, each with its result. Callable twice. */
  end(): void {
    for (const { listens } of this.#open.values()) listens.close();
  }

  #createListens(request: StatelessRequest): Listens {
    const { runtime, clock, counters } = this.#http;
    const outbox = new Outbox();
    const send = (json: string): void => {
      if (request.write(json)) outbox.hold();
    };
    const onDrain = (): void => outbox.release();
    request.onDrain = onDrain;
    const answer: WatchDeps["answer"] = (_id, end) => this.#complete(request.key, end);
    return new Listens({ runtime, clock, reached: counters.reached, outbox, send, answer });
  }

  #complete(key: RequestId, answer: RpcAnswer): void {
    this.#forget(key);
    this.#answer(key, answer);
  }

  #forget(key: RequestId): OpenListen | undefined {
    const open = this.#open.get(key);
    this.#open.delete(key);
    open?.stopExpiry?.();
    open?.permit.release();
    return open;
  }
}

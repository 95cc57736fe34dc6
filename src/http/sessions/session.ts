import { CallContext } from "../../call/call-context.ts";
import type { Caller } from "../../catalog/caller.ts";
import { SurfaceError } from "../../errors.ts";
import { ClientLog, renderLogged } from "../../mcp/client-log.ts";
import { progressTokenOf } from "../../mcp/envelope.ts";
import { answerAsked, isNod, toInternalAnswer, type Methods } from "../../mcp/methods.ts";
import type { Handler } from "../../mcp/handlers.ts";
import type { NotificationFrame, RequestFrame } from "../../mcp/parse-frame.ts";
import { toProgressSink } from "../../mcp/progress-sink.ts";
import { rpcCodes, toRpcError, toRpcResult, type RpcAnswer } from "../../mcp/protocol.ts";
import type { RequestId } from "../../mcp/request-id.ts";
import type { RpcMessage } from "../../mcp/sdk-port.ts";
import { SubscriptionSession } from "../../mcp/subscriptions/subscription-session.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Turning } from "../admission.ts";
import type { HttpExchange, HttpPost } from "../leg.ts";
import type { HttpSetting } from "../setting.ts";
import { PostedRequest } from "./posted-request.ts";
import { SessionSdk } from "./session-sdk.ts";
import { SessionStreams } from "./session-streams.ts";

/** What a session is made of. */
export interface SessionSetting {
  readonly http: HttpSetting;
  readonly methods: Methods;
  readonly id: string;
  /** Whose it is; nobody else's requests come here. */
  readonly caller: Caller;
  /** The params of the handshake. */
  readonly handshake: JsonObject;
  /** The revision that was agreed on. */
  readonly version: string;
}

/** A request under way. */
interface Running {
  readonly posted: PostedRequest;
  readonly token: string | number | undefined;
  /** Left out where no call of ours runs: the SDK, or a subscription, owes the answer. */
  readonly call?: CallContext;
  turning?: Turning | undefined;
  readonly isSdks?: boolean;
}

/** A POST whose frame is a request. */
export interface RequestPost extends HttpPost {
  readonly frame: RequestFrame;
}

interface Start {
  readonly frame: RequestFrame;
  readonly handler: Handler;
  readonly running: Running;
  readonly call: CallContext;
}

const duplicateId = toRpcError(rpcCodes.invalidRequest, "Invalid request: a request with this id is still running");
const busy = toRpcError(rpcCodes.busy, "Server busy: too many requests are in flight");
const unknownMethod = toRpcError(rpcCodes.methodNotFound, "Method not found");
const empty = toRpcResult("");

function toMessage({ method, params }: RequestFrame | NotificationFrame, id?: RequestId): RpcMessage {
  return { jsonrpc: "2.0", method, ...(id === undefined ? {} : { id }), ...(params === undefined ? {} : { params }) };
}

function toAnswer({ result, error }: RpcMessage): RpcAnswer {
  if (isJsonObject(result)) return toRpcResult(JSON.stringify(result).slice(1, -1));
  const { code, message, data } = isJsonObject(error) ? error : {};
  return toRpcError(Number(code), String(message), data);
}

/** One client of the legacy era: what it has asked, what it watches, what it is sent. Whoever made it closes it. */
export class Session {
  readonly #setting: SessionSetting;
  readonly #running = new Map<RequestId, Running>();
  readonly #subscriptions: SubscriptionSession;
  readonly #log = new ClientLog();
  readonly #streams: SessionStreams;
  readonly #headers: Readonly<Record<string, string>>;
  #sdk: SessionSdk | undefined;
  #isClosed = false;
  /** When it last did anything, by the clock. */
  activeAt: number;
  /** Told when nothing runs any more. */
  onQuiet: (() => void) | undefined;

  constructor(setting: SessionSetting) {
    const { http, id, version } = setting;
    this.#setting = setting;
    this.#headers = Object.freeze({ "mcp-session-id": id });
    this.activeAt = http.clock.now();
    this.#streams = new SessionStreams({
      http,
      headers: this.#headers,
      primes: version >= "2025-11-25",
      touched: () => this.touch(),
      setFull: (isFull) => this.#subscriptions.setOutputFull(isFull),
    });
    this.#subscriptions = new SubscriptionSession({
      runtime: http.runtime,
      send: (json) => this.#streams.notify(json),
      answer: (requestId, answer) => this.#settle(requestId, answer),
      clock: http.clock,
      stallMs: http.bounds.stallMs,
    });
    this.#subscriptions.setOutputFull(true);
  }

  /** Whose it is. */
  get owner(): string {
    return this.#setting.caller.id;
  }

  /** Whether something runs, or somebody listens. */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.#streams.isRead;
  }

  /** How many requests are under way. */
  get running(): number {
    return this.#running.size;
  }

  /** How many messages were thrown away unsent. */
  get dropped(): number {
    return this.#streams.dropped;
  }

  /** It does something: its time begins anew. */
  touch(): void {
    this.activeAt = this.#setting.http.clock.now();
  }

  /** Takes a request. */
  request(post: RequestPost): void {
    const { frame } = post;
    const { id, method, params } = frame;
    const { http } = this.#setting;
    const answerNow = (answer: RpcAnswer, status?: number): void =>
      http.responder.answer(post.reply, answer, {
        id,
        era: "legacy",
        headers: this.#headers,
        ...(status === undefined ? {} : { status }),
      });
    if (isNod(method, "legacy")) return answerNow(empty);
    if (this.#running.has(id)) return answerNow(duplicateId, 400);
    if (method.startsWith("notifications/")) return answerNow(unknownMethod);
    const token = progressTokenOf(params);
    if (typeof token === "object") return answerNow(token);
    if (method === "logging/setLevel" && http.runtime.logs) return answerNow(this.#log.setLevel(params));
    this.#start(post, token);
  }

  /** Takes a notification; what is no notification of the protocol's is dropped. */
  notice(frame: NotificationFrame, caller: Caller): void {
    const { method, params } = frame;
    if (method === "notifications/cancelled") return this.#cancel(frame, params);
    if (method === "notifications/initialized") this.#subscriptions.initialised(caller);
    if (method.startsWith("notifications/")) this.#sdk?.notify(toMessage(frame));
  }

  /** Opens the stream of what belongs to no request, or resumes one. */
  listen(exchange: HttpExchange): void {
    this.#streams.listen(exchange);
  }

  /** Ends the stream of what belongs to no request. */
  hush(): void {
    this.#streams.hush();
  }

  /** Aborts what runs, ends every stream, and lets go of everything. Callable twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#subscriptions.close();
    const all = [...this.#running.values()];
    this.#running.clear();
    for (const { posted, call, turning } of all) {
      if (turning?.withdraw() !== true) call?.abort(new SurfaceError("CLOSED", "Calling: the session has ended"));
      posted.ended();
    }
    this.#streams.close();
    await this.#sdk?.close();
  }

  #start(post: RequestPost, token: string | number | undefined): void {
    const { frame, caller, reply, request } = post;
    const { http, methods } = this.#setting;
    const streams = token !== undefined && (request.header("accept") ?? "").includes("text/event-stream");
    const posted = new PostedRequest({
      id: frame.id,
      reply,
      caller,
      responder: http.responder,
      clock: http.clock,
      headers: this.#headers,
      openStream: streams ? () => this.#streams.open() : undefined,
      append: (stream, json, isResult) => this.#streams.append(stream, json, isResult),
      keepAliveMs: http.bounds.keepAliveMs,
      onGone: () => this.#onGone(frame),
    });
    const handler = http.runtime.hotPath || !caller.isAnonymous ? methods.find(frame.method, "legacy") : undefined;
    if (handler !== undefined) return this.#run({ frame, handler, posted, caller, token });
    this.#running.set(frame.id, { posted, token });
    if (this.#serveSubscription(frame, caller)) return;
    if (this.#isClosed) return;
    this.#running.set(frame.id, { posted, token, isSdks: true });
    this.#sdk ??= new SessionSdk(http.runtime, this.#setting.handshake, {
      answered: (message) => this.#settle(message["id"] as RequestId, toAnswer(message)),
      told: (message) => this.#fromSdk(message),
    });
    this.#sdk.request(toMessage(frame, frame.id));
  }

  #serveSubscription(frame: RequestFrame, caller: Caller): boolean {
    try {
      return this.#subscriptions.serve(frame, "legacy", caller);
    } catch (cause) {
      this.#subscriptions.cancel(frame.id);
      this.#settle(frame.id, toInternalAnswer(cause, frame.method, this.#setting.http.runtime.report));
      return true;
    }
  }

  #run(asked: {
    frame: RequestFrame;
    handler: Handler;
    posted: PostedRequest;
    caller: Caller;
    token: string | number | undefined;
  }): void {
    const { frame, handler, posted, caller, token } = asked;
    const { http, methods, id } = this.#setting;
    const out = posted.canTell ? posted : this.#streams;
    const isFull = (): boolean => out.isFull;
    const call = new CallContext({
      sink:
        posted.canTell && token !== undefined
          ? toProgressSink(token, { send: (json) => posted.tell(json), isFull })
          : undefined,
      log: http.runtime.logs
        ? this.#log.sinkFor("legacy", undefined, { send: (params) => out.tell(renderLogged(params)), isFull })
        : undefined,
      caller,
      reached: http.counters.reached,
    });
    const running: Running = { posted, token, call };
    const start: Start = { frame, handler, running, call };
    this.#running.set(frame.id, running);
    const turn = methods.turnOf(frame.method);
    if (turn === "none") return void this.#answer(start);
    const holder = { caller, session: id };
    const turning = http.admission.take(holder, turn, (done) => void this.#answer(start).finally(done));
    if (turning === undefined) this.#settle(frame.id, busy);
    else running.turning = turning;
  }

  async #answer({ frame, handler, running, call }: Start): Promise<void> {
    const { method, params, id } = frame;
    const { runtime, limiter } = this.#setting.http;
    const request = { era: "legacy", call, limiter } as const;
    const answer = await answerAsked({ method, handler, params, request, report: runtime.report });
    if (this.#running.get(id) === running) this.#settle(id, answer);
  }

  #settle(id: RequestId, answer: RpcAnswer): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#forget(id);
    running.posted.answer(answer);
  }

  #forget(id: RequestId): void {
    this.#running.delete(id);
    this.touch();
    if (this.#running.size === 0) this.onQuiet?.();
  }

  #cancel(frame: NotificationFrame, params: JsonObject | undefined): void {
    // Only ids that isRequestId() let in are in the map.
    const id = params?.["requestId"] as RequestId;
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#forget(id);
    this.#subscriptions.cancel(id);
    if (running.isSdks === true) this.#sdk?.notify(toMessage(frame));
    else if (running.turning?.withdraw() !== true) running.call?.cancel();
    running.posted.cancelled();
  }

  #onGone(_frame: RequestFrame): void {
    this.touch();
  }

  #fromSdk(message: RpcMessage): void {
    const { method, params } = message;
    const token = method === "notifications/progress" && isJsonObject(params) ? params["progressToken"] : undefined;
    const json = JSON.stringify(message);
    if (token === undefined) return this.#streams.tell(json);
    for (const running of this.#running.values()) {
      if (running.token === token && running.posted.canTell) return running.posted.tell(json);
    }
  }
}

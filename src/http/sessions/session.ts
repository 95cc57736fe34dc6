import type { AskKind } from "../../catalog/asking.ts";
import { PushedAsks } from "../../mcp/asking/pushed-asks.ts";
import { ClientLog } from "../../mcp/client-log.ts";
import type { Caller } from "../../surface/caller.ts";
import { Dispatcher } from "../../mcp/dispatcher.ts";
import { emptyResult, ownParam, sessionNotFound, toScopeError, type RequestId } from "../../mcp/protocol.ts";
import type { NotificationFrame, ResponseFrame } from "../../mcp/parse-frame.ts";
import { SubscriptionSession } from "../../mcp/subscriptions/subscription-session.ts";
import { internalError } from "../../surface/fault.ts";
import type { HttpExchange, AdmittedPost } from "../leg.ts";
import type { HttpSetting } from "../setting.ts";
import { PostedRequest, type RequestSession } from "./posted-request.ts";
import { SessionScopes } from "./session-scopes.ts";
import { SessionStreams, type StreamsSession } from "./session-streams.ts";

/** What a session is made of. */
export interface SessionSetting {
  readonly http: HttpSetting;
  readonly id: string;
  /** Whose it is, and by which view: nobody else's requests come here. */
  readonly caller: Caller;
  /** Kinds of questions that the client can answer. */
  readonly kinds: ReadonlySet<AskKind>;
  /** The revision that was agreed on. */
  readonly version: string;
}

/** From this revision on clients take an event without data for what it is: an id to resume from. */
const firstPrimed = "2025-11-25";

/** One client of the legacy era: what it has asked, what it watches, what it is sent. Whoever made it closes it. */
export class Session implements StreamsSession, RequestSession {
  readonly streams: SessionStreams;
  readonly log: ClientLog = new ClientLog();
  readonly #setting: SessionSetting;
  readonly #dispatcher: Dispatcher<PostedRequest>;
  readonly #subscriptions: SubscriptionSession;
  readonly #scopes: SessionScopes;
  /** Created with the first request of a client that answers questions. */
  #asks: PushedAsks | undefined;
  #activeAt: number;
  /** Whether the client has closed its stream and sent nothing since. */
  hasLeft = false;
  #isDraining = false;
  #isClosed = false;

  constructor(setting: SessionSetting) {
    const { http, id, version } = setting;
    this.#setting = setting;
    this.#activeAt = http.clock.now();
    this.#scopes = new SessionScopes(http.runtime);
    this.streams = new SessionStreams({
      http,
      headers: Object.freeze({ "mcp-session-id": id }),
      primes: version >= firstPrimed,
      session: this,
    });
    this.#subscriptions = new SubscriptionSession({
      runtime: http.runtime,
      send: (json) => this.streams.tell(json),
      answer: (requestId, answer) => this.#dispatcher.answer(requestId, answer),
      clock: http.clock,
      stallMs: http.bounds.stallMs,
      // A client may have its reasons for not listening, and one that is too slow has lost its stream already.
      onStalled: () => {},
      reached: http.counters.reached,
    });
    this.#subscriptions.setOutputFull(true);
    const queues = http.admission.openQueues(setting.caller);
    this.#dispatcher = new Dispatcher<PostedRequest>({
      runtime: http.runtime,
      subscriptions: this.#subscriptions,
      queueOf: (turn, request) => http.admission.queueOf(turn, request.caller, queues),
      queuesSubscribe: true,
      onOver: () => this.touch(),
    });
  }

  /** Whose it is. The view that they came by in the handshake holds for as long as it lasts. */
  get caller(): Caller {
    return this.#setting.caller;
  }

  /** What every answer within it says. */
  get headers(): Readonly<Record<string, string>> {
    return this.streams.headers;
  }

  /** Since when it has done nothing; `undefined`: something runs, somebody listens, or has yet to answer. */
  get idleSince(): number | undefined {
    const isActive = this.#dispatcher.size > 0 || this.streams.isRead || (this.#asks?.size ?? 0) > 0;
    return isActive ? undefined : this.#activeAt;
  }

  get version(): string {
    return this.#setting.version;
  }

  get asks(): PushedAsks | undefined {
    const { kinds, http } = this.#setting;
    if (kinds.size === 0) return undefined;
    if (this.#asks !== undefined) return this.#asks;
    this.#asks = new PushedAsks({ kinds: () => kinds, send: this.streams.tell, report: http.runtime.report });
    if (this.#isDraining) this.#asks.close();
    return this.#asks;
  }

  /** Requests whose handlers run, maybe after they were cancelled or the session was closed. */
  get running(): readonly PostedRequest[] {
    return this.#dispatcher.running;
  }

  /** Whether no handler runs for the session. */
  get isIdle(): boolean {
    return this.#dispatcher.isIdle;
  }

  /** Calls `told` when no handler runs for the session. */
  whenIdle(told: () => void): void {
    this.#dispatcher.whenIdle(told);
  }

  /** How many messages were thrown away before anybody was sent them. */
  get dropped(): number {
    return this.streams.log.dropped;
  }

  /** It does something: its time begins anew. */
  touch(): void {
    this.#activeAt = this.#setting.http.clock.now();
    this.hasLeft = false;
  }

  clientLeft(): void {
    this.hasLeft = true;
  }

  setOutputFull(isFull: boolean): void {
    this.#subscriptions.setOutputFull(isFull);
  }

  announce(): void {
    this.#subscriptions.announce();
  }

  /** Takes a request. */
  request(post: AdmittedPost): void {
    const { frame, reply, caller } = post;
    const { headers, http } = this.streams;
    const answered = { id: frame.id, era: "legacy", headers } as const;
    if (frame.method === "ping") return http.responder.answer(reply, emptyResult, answered);
    this.#asked(caller);
    this.#dispatcher.serve(new PostedRequest(post, this));
  }

  drop(request: PostedRequest): void {
    this.#dispatcher.cancel(request.frame.id, request);
  }

  /** Takes a notification or a response. Drops unknown notifications, and answers to questions that the session did not ask. */
  message(frame: NotificationFrame | ResponseFrame, caller: Caller): void {
    if (frame.kind === "response") return this.#asks?.answer(frame, caller);
    const { method, params } = frame;
    // Only ids that isRequestId() let in are known to the dispatcher.
    if (method === "notifications/cancelled") this.#dispatcher.cancel(ownParam(params, "requestId") as RequestId);
    this.#asks?.notified(method);
    if (method !== "notifications/initialized") return;
    this.#asked(caller);
    this.#subscriptions.initialised(caller);
  }

  /** Opens the stream of what belongs to no request, or resumes one, for who was granted all that was asked with here. */
  listen(exchange: HttpExchange): void {
    const scopes = this.#scopes.read(exchange.caller);
    if (scopes === undefined) return this.streams.listen(exchange);
    const { http, headers } = this.streams;
    // Where no consent helps, a session of their own does: this one is not theirs.
    if (scopes.length === 0) return http.responder.refuse(exchange.reply, sessionNotFound, { status: 404 });
    http.responder.refuse(exchange.reply, toScopeError(scopes), { status: 403, headers });
  }

  /** Ends the stream of what belongs to no request, and asks nothing more. Resolves when nothing runs any more. */
  drain(): Promise<void> {
    this.#isDraining = true;
    this.#asks?.drain();
    this.streams.hush();
    return this.#dispatcher.quiet();
  }

  /** Aborts the running calls and ends every stream. Never throws. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#letGo();
    } catch (cause) {
      void internalError(cause, "the end of a session", this.#setting.http.runtime.report);
    }
  }

  #letGo(): void {
    this.#subscriptions.close();
    this.#isDraining = true;
    this.#asks?.close();
    this.#dispatcher.close("the session has ended");
    this.streams.close();
  }

  /** From here on something may be told that takes what this caller was granted. */
  #asked(caller: Caller): void {
    if (this.#scopes.asked(caller)) this.streams.dismiss();
  }
}

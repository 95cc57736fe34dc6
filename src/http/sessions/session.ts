import type { LogSink } from "../../call/call-context.ts";
import type { AskKind } from "../../catalog/asking/asking.ts";
import { PushedAsks } from "../../mcp/asking/pushed-asks.ts";
import { ClientLog } from "../../mcp/notifications.ts";
import { grantKey, type Caller } from "../../surface/caller.ts";
import { Dispatcher } from "../../mcp/dispatcher.ts";
import { emptyResult, ownParam, sessionNotFound, toScopeError, type RequestId } from "../../mcp/protocol.ts";
import type { NotificationFrame, ResponseFrame } from "../../mcp/parse-frame.ts";
import { SubscriptionSession } from "../../mcp/subscriptions/subscription-session.ts";
import { internalError } from "../../surface/fault.ts";
import type { HttpExchange, AdmittedPost } from "../message.ts";
import type { AppRuntime } from "../../mcp/servable-app.ts";
import type { Place } from "../admission.ts";
import type { HttpSetting } from "../setting.ts";
import { PostedRequest } from "./posted-request.ts";
import { SessionStreams } from "./session-streams.ts";

const nothing: readonly string[] = Object.freeze([]);

/** Messages that cannot be sent now are kept, as many as there is room for. */
const never = (): boolean => false;

/** The actions that a caller may take on things. No name contains the control character between the parts. */
function* grantsOf({ resources = {} }: Caller): Iterable<string> {
  for (const [name, actions] of Object.entries(resources)) for (const action of actions) yield `${name}\0${action}`;
}

/**
 * The rights of all who made requests in one session. The streams of the session may tell of what these rights opened, so a reader
 * needs all of them: a token of the same caller with fewer rights must not read by the session what it cannot read itself.
 */
export class SessionScopes {
  readonly #known: ReadonlySet<string> | undefined;
  readonly #needed = new Set<string>();
  /** Rights on things of the application. No consent grants them. */
  readonly #grants = new Set<string>();
  /** Callers that began to read and may still read, one for each set of rights. */
  readonly #readers = new Map<string, Caller>();

  /** Only scopes that the app asks for count; all scopes, if the tools can change. */
  constructor({ scopes, changing }: Pick<AppRuntime, "scopes" | "changing">) {
    this.#known = changing.has("tools") ? undefined : new Set(scopes.all);
  }

  /** Adds the rights of a caller who makes a request. Returns whether a reader lacks some of them. */
  asked(caller: Caller): boolean {
    if (caller.scopes.length === 0 && caller.resources === undefined) return false;
    const before = this.#needed.size + this.#grants.size;
    for (const scope of caller.scopes) if (this.#known?.has(scope) !== false) this.#needed.add(scope);
    for (const grant of grantsOf(caller)) this.#grants.add(grant);
    if (this.#needed.size + this.#grants.size === before) return false;
    const isLess = [...this.#readers.values()].some((reader) => this.#lack(reader) !== undefined);
    if (isLess) this.#readers.clear();
    return isLess;
  }

  /** Returns `undefined` if a caller may read; else all scopes that reading takes, or none if no scope would help. */
  read(caller: Caller): readonly string[] | undefined {
    const lack = this.#lack(caller);
    if (lack === undefined) this.#readers.set(grantKey(caller), caller);
    return lack;
  }

  #lack(caller: Caller): readonly string[] | undefined {
    if (this.#grants.size > 0) {
      const own = new Set(grantsOf(caller));
      for (const grant of this.#grants) if (!own.has(grant)) return nothing;
    }
    const isShort = [...this.#needed].some((scope) => !caller.scopes.includes(scope));
    return isShort ? [...this.#needed].toSorted() : undefined;
  }
}

/** Dependencies of a {@link Session}. */
export interface SessionDeps {
  readonly http: HttpSetting;
  readonly id: string;
  /** Released when the session is closed and no handler runs for it. */
  readonly place: Place;
  /** The caller of the handshake. Requests of other callers do not reach the session. */
  readonly caller: Caller;
  /** Kinds of questions that the client can answer. */
  readonly kinds: ReadonlySet<AskKind>;
  /** The protocol version of the handshake. */
  readonly version: string;
}

/** From this version on clients understand an event without data: an id to resume from. */
const firstPrimed = "2025-11-25";

/** One client of the legacy era: its requests, subscriptions and streams. Its maker closes it. */
export class Session {
  readonly streams: SessionStreams;
  readonly log: ClientLog = new ClientLog();
  /** Created with the first request. */
  #noticeLog: LogSink | undefined;
  readonly #deps: SessionDeps;
  /** Its handlers may run on after the session was closed. */
  readonly dispatcher: Dispatcher<PostedRequest>;
  readonly #subscriptions: SubscriptionSession;
  readonly #scopes: SessionScopes;
  /** Created with the first request of a client that answers questions. */
  #asks: PushedAsks | undefined;
  #activeAt: number;
  /** Whether the client has closed its stream and sent nothing since. */
  hasLeft = false;
  #isDraining = false;
  #isClosed = false;

  constructor(deps: SessionDeps) {
    const { http, id, version } = deps;
    this.#deps = deps;
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
      answer: (requestId, answer) => this.dispatcher.answer(requestId, answer),
      clock: http.clock,
      stallMs: http.bounds.stallMs,
      // A client need not listen, and the stream of a slow one is closed already.
      onStalled: () => {},
      reached: http.counters.reached,
    });
    this.#subscriptions.setOutputFull(true);
    const queues = http.admission.openQueues(deps.caller);
    this.dispatcher = new Dispatcher<PostedRequest>({
      runtime: http.runtime,
      subscriptions: this.#subscriptions,
      queueOf: (turn, request) => http.admission.queueOf(turn, request.caller, queues),
      queuesSubscribe: true,
      onOver: () => this.touch(),
    });
  }

  get id(): string {
    return this.#deps.id;
  }

  /** The caller of the handshake. Their view holds for as long as the session lasts. */
  get caller(): Caller {
    return this.#deps.caller;
  }

  /** Headers of every answer. */
  get headers(): Readonly<Record<string, string>> {
    return this.streams.headers;
  }

  /** Since when the session is idle; `undefined` while a request runs, a client reads, or a question is open. */
  get idleSince(): number | undefined {
    const isActive = this.dispatcher.size > 0 || this.streams.isRead || (this.#asks?.size ?? 0) > 0;
    return isActive ? undefined : this.#activeAt;
  }

  /** The protocol version of the handshake. */
  get version(): string {
    return this.#deps.version;
  }

  /** Questions to the client; `undefined` for a client that answers none. */
  get asks(): PushedAsks | undefined {
    const { kinds, http } = this.#deps;
    if (kinds.size === 0) return undefined;
    if (this.#asks !== undefined) return this.#asks;
    this.#asks = new PushedAsks({ kinds: () => kinds, send: this.streams.tell, report: http.runtime.report });
    if (this.#isDraining) this.#asks.close();
    return this.#asks;
  }

  /** Sends to the client's log on the stream of what belongs to no request; `undefined` if no handler can log. */
  get noticeLog(): LogSink | undefined {
    const { http, tell } = this.streams;
    return http.runtime.logs ? (this.#noticeLog ??= this.log.sinkTo({ send: tell, isFull: never })) : undefined;
  }

  /** Number of messages that were thrown away unsent. */
  get dropped(): number {
    return this.streams.log.dropped;
  }

  /** Starts the time again after which an idle session is ended. */
  touch(): void {
    this.#activeAt = this.#deps.http.clock.now();
    this.hasLeft = false;
  }

  /** Called after {@link touch} when the client closed the stream of what belongs to no request. */
  clientLeft(): void {
    this.hasLeft = true;
  }

  /** Called with whether messages that belong to no request must wait: each notice is then sent once, later. */
  setOutputFull(isFull: boolean): void {
    this.#subscriptions.setOutputFull(isFull);
  }

  /** Announces everything that is subscribed to: the client has missed some of it. */
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
    this.dispatcher.serve(new PostedRequest(post, this));
  }

  /** Cancels a request whose client dropped the connection. */
  drop(request: PostedRequest): void {
    this.dispatcher.cancel(request.frame.id, request);
  }

  /** Takes a notification or a response. Drops unknown notifications, and answers to questions that the session did not ask. */
  message(frame: NotificationFrame | ResponseFrame, caller: Caller): void {
    if (frame.kind === "response") return this.#asks?.answer(frame, caller);
    const { method, params } = frame;
    // Only ids that isRequestId() let in are known to the dispatcher.
    if (method === "notifications/cancelled") this.dispatcher.cancel(ownParam(params, "requestId") as RequestId);
    this.#asks?.notified(method);
    if (method !== "notifications/initialized") return;
    this.#asked(caller);
    this.#subscriptions.initialised(caller);
  }

  /** Opens or resumes a stream for a caller who has the rights of all requests so far. */
  listen(exchange: HttpExchange): void {
    const scopes = this.#scopes.read(exchange.caller);
    if (scopes === undefined) return this.streams.listen(exchange);
    const { http, headers } = this.streams;
    // No consent helps: such a caller needs a session of their own.
    if (scopes.length === 0) return http.responder.refuse(exchange.reply, sessionNotFound, { status: 404 });
    http.responder.refuse(exchange.reply, toScopeError(scopes), { status: 403, headers });
  }

  /** Ends the stream of what belongs to no request, and asks nothing more. Resolves when every request has its answer. */
  drain(): Promise<void> {
    this.#isDraining = true;
    this.#asks?.drain();
    this.streams.hush();
    return this.dispatcher.quiet();
  }

  /** Aborts the running calls, ends every stream and releases the place. Never throws. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isDraining = true;
    try {
      this.#asks?.close();
      // Before the subscriptions: a request that waits for one is answered that its session has ended, as any other.
      this.dispatcher.close("the session has ended");
      this.#subscriptions.close();
      this.streams.close();
    } catch (cause) {
      void internalError(cause, "the end of a session", this.#deps.http.runtime.report);
    }
    // Handlers that ignore their signal run on: a client that ends its sessions must not run more of them than others.
    this.dispatcher.whenIdle(() => this.#deps.place.release());
  }

  /** Takes note of a caller: from here on the streams may tell what takes their rights. */
  #asked(caller: Caller): void {
    if (this.#scopes.asked(caller)) this.streams.dismiss();
  }
}

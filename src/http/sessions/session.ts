import type { LogSink } from "../../call/call-context.ts";
import type { AskKind } from "../../catalog/asking/asking.ts";
import { PushedAsks } from "../../mcp/asking/pushed-asks.ts";
import { Dispatcher, type AdmittedRequest } from "../../mcp/dispatcher.ts";
import type { ClientExtension } from "../../mcp/extensions/extensions.ts";
import { ping } from "../../mcp/methods.ts";
import { observeRequest } from "../../mcp/observed-request.ts";
import { ClientLog } from "../../mcp/notifications.ts";
import type { NotificationFrame, ResponseFrame } from "../../mcp/parse-frame.ts";
import { emptyResult, isRequestId, ownParam, sessionNotFound, toScopeError } from "../../mcp/protocol.ts";
import type { AppRuntime } from "../../mcp/servable-app.ts";
import { SubscriptionSession } from "../../mcp/subscriptions/subscription-session.ts";
import type { SessionEnd } from "../../observe/observation.ts";
import type { ObservedChannel } from "../../observe/observed-channel.ts";
import { grantKey, type Caller } from "../../surface/caller.ts";
import { internalError } from "../../surface/fault.ts";
import type { Permit } from "../admission.ts";
import type { HttpDeps } from "../http-deps.ts";
import type { HttpExchange } from "../message.ts";
import { SessionRequest } from "./session-request.ts";
import { readTraceHeaders } from "../check-envelope.ts";
import { SharedCopy } from "./shared-copy.ts";
import type { SharedState } from "./session-record.ts";
import { SessionStreams, type SharedSession } from "./session-streams.ts";

const nothing: readonly string[] = Object.freeze([]);

/** Messages that cannot be sent now are kept, as many as there is room for. */
const never = (): boolean => false;

/** Returns the granted actions on resources, each as one text. No name contains the control character between the parts. */
function* grantsOf({ resources = {} }: Caller): Iterable<string> {
  for (const [name, actions] of Object.entries(resources)) for (const action of actions) yield `${name}\0${action}`;
}

/**
 * The rights of all requests in one session. The streams of the session may carry data that these rights opened, so a reader needs
 * all of them: a token of the same caller with fewer rights must not read through the session what it cannot read itself.
 */
export class SessionScopes {
  readonly #known: ReadonlySet<string> | undefined;
  readonly #needed = new Set<string>();
  /** Granted actions on resources of the application. No consent of the user adds them. */
  readonly #grants = new Set<string>();
  /** Callers that began to read and may still read, one for each set of rights. */
  readonly #readers = new Map<string, Caller>();

  /** Counts only scopes that the app asks for; all scopes, if the tools can change. */
  constructor({ scopes, changing }: Pick<AppRuntime, "scopes" | "changing">) {
    this.#known = changing.has("tools") ? undefined : new Set(scopes.all);
  }

  /** The scopes and grants that a reader needs. */
  get needed(): Pick<SharedState, "scopes" | "grants"> {
    return { scopes: [...this.#needed], grants: [...this.#grants] };
  }

  /** Number of these rights. It grows only. */
  get size(): number {
    return this.#needed.size + this.#grants.size;
  }

  /** Adds the rights of a request. Returns whether a reader lacks some of them. */
  add(caller: Caller): boolean {
    if (caller.scopes.length === 0 && caller.resources === undefined) return false;
    const scopes = caller.scopes.filter((scope) => this.#known?.has(scope) !== false);
    return this.merge({ scopes, grants: grantsOf(caller) });
  }

  /** Adds rights. Returns whether a reader lacks some of them. */
  merge({ scopes, grants }: Readonly<Record<"scopes" | "grants", Iterable<string>>>): boolean {
    const before = this.size;
    for (const scope of scopes) this.#needed.add(scope);
    for (const grant of grants) this.#grants.add(grant);
    if (this.size === before) return false;
    const isLess = [...this.#readers.values()].some((reader) => this.#lack(reader) !== undefined);
    if (isLess) this.#readers.clear();
    return isLess;
  }

  /** Returns `undefined` if a caller may read; else all scopes that reading needs, or an empty list if no scope would help. */
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
  readonly http: HttpDeps;
  readonly id: string;
  /** Released when the session is closed and no handler runs for it. */
  readonly permit: Permit;
  /** The caller of the handshake. Requests of other callers do not reach the session. */
  readonly caller: Caller;
  /** Kinds of questions that the client can answer. */
  readonly kinds: ReadonlySet<AskKind>;
  /** Extensions that the client can use. */
  readonly extensions: ReadonlySet<ClientExtension>;
  /** The protocol version of the handshake. */
  readonly version: string;
  readonly channel: ObservedChannel;
  /** The other replicas that serve the session. @default none */
  readonly shared?: (SharedSession & { readonly state: SharedState }) | undefined;
  /** Called when another replica has ended the session. */
  readonly onEnded?: (session: Session) => void;
}

/** From this version on clients understand an event without data: an id to resume from. */
const firstPrimed = "2025-11-25";

/** One client up to 2025-11-25: its requests, subscriptions and streams. Call {@link close} when done. */
export class Session {
  readonly id: string;
  /** The caller of the handshake, whose view holds for as long as the session lasts. */
  readonly caller: Caller;
  /** The protocol version of the handshake. */
  readonly version: string;
  readonly streams: SessionStreams;
  readonly log: ClientLog = new ClientLog((level) => this.copy?.change("level", (state) => ({ ...state, level })));
  /** The copies of the session on other replicas; `undefined` if this process serves it alone. */
  readonly copy: SharedCopy | undefined;
  /** Created with the first request. */
  #noticeLog: LogSink | undefined;
  readonly #deps: SessionDeps;
  /** Handlers may run on after the session was closed. */
  readonly dispatcher: Dispatcher<SessionRequest>;
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
    const { http, id, caller, version, shared } = deps;
    this.id = id;
    this.caller = caller;
    this.version = version;
    this.#deps = deps;
    this.#activeAt = http.clock.now();
    this.#scopes = new SessionScopes(http.runtime);
    this.streams = new SessionStreams({
      http,
      headers: Object.freeze({ "mcp-session-id": id }),
      primes: version >= firstPrimed,
      session: this,
      channel: deps.channel,
      shared,
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
      onSubscribed: (uri, isSubscribed) => this.copy?.subscribed(uri, isSubscribed),
    });
    this.#subscriptions.setOutputFull(true);
    const queues = http.admission.openQueues(caller);
    this.dispatcher = new Dispatcher<SessionRequest>({
      runtime: http.runtime,
      channel: deps.channel,
      subscriptions: this.#subscriptions,
      queueOf: (turn, request) => http.admission.queueOf(turn, request.caller, queues),
      queuesSubscribe: true,
      onOver: () => this.touch(),
    });
    if (shared === undefined) return;
    const [scopes, subscriptions] = [this.#scopes, this.#subscriptions];
    this.copy = new SharedCopy({ ...deps, shared, session: this, scopes, subscriptions, asks: () => this.#asks });
  }

  /** Extensions that the client can use. */
  get extensions(): ReadonlySet<ClientExtension> {
    return this.#deps.extensions;
  }

  /** Headers of every answer. */
  get headers(): Readonly<Record<string, string>> {
    return this.streams.headers;
  }

  /** Time when the session became idle; `undefined` while a request runs, a client reads, or a question is open. */
  get idleSince(): number | undefined {
    const isActive = this.dispatcher.size > 0 || this.streams.isRead || (this.#asks?.size ?? 0) > 0;
    return isActive ? undefined : this.#activeAt;
  }

  /** Whether no other replica is known to have served the session. */
  get isAlone(): boolean {
    return this.copy?.peers.isAlone !== false;
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

  /** Writes to the client's log on the stream of notices; `undefined` if no handler can log. */
  get noticeLog(): LogSink | undefined {
    const { http, tell } = this.streams;
    return http.runtime.logs ? (this.#noticeLog ??= this.log.sinkTo({ send: tell, isFull: never })) : undefined;
  }

  /** Number of messages that were dropped unsent. */
  get dropped(): number {
    return this.streams.log.dropped;
  }

  /** Restarts the time after which an idle session ends. */
  touch(): void {
    this.#activeAt = this.#deps.http.clock.now();
    this.hasLeft = false;
  }

  /** Called after {@link touch} when the client closed the stream of notices. */
  clientLeft(): void {
    this.hasLeft = true;
  }

  /** Called with `true` while messages that belong to no request must wait: each notice is then sent once, later. */
  setOutputFull(isFull: boolean): void {
    this.#subscriptions.setOutputFull(isFull);
  }

  /** Announces every subscribed resource and list: the client has missed some of them. */
  announce(): void {
    this.#subscriptions.announce();
  }

  /** Serves a request. */
  request(exchange: HttpExchange, admitted: AdmittedRequest): void {
    const { frame, caller } = admitted;
    if (frame.method === "ping") return this.#ping(exchange, admitted);
    this.#addScopes(caller);
    this.dispatcher.serve(new SessionRequest(this, exchange, admitted));
  }

  /** Cancels a request whose client dropped the connection. */
  drop(request: SessionRequest): void {
    this.dispatcher.cancel(request.frame.id, request);
  }

  /**
   * Handles a notification or a response. Ignores unknown notifications, and responses to no request of the server. Returns a promise
   * if another replica may have asked; it rejects while the store is away.
   */
  message(frame: NotificationFrame | ResponseFrame, caller: Caller): Promise<void> | undefined {
    if (frame.kind === "notification") this.#notified(frame, caller);
    else if (this.#asks?.has(frame.id) !== true) return this.copy?.peers.answer(frame, caller);
    else this.#asks.answer(frame, caller);
    return undefined;
  }

  #notified({ method, params }: NotificationFrame, caller: Caller): void {
    if (method === "notifications/cancelled") this.#cancel(ownParam(params, "requestId"));
    this.#asks?.notified(method);
    if (method === "notifications/roots/list_changed") this.copy?.peers.tell("roots");
    if (method !== "notifications/initialized") return;
    this.#addScopes(caller);
    this.#subscriptions.initialised(caller);
    this.copy?.change("initialized", (state) => ({ ...state, isInitialized: true }));
  }

  /** Opens or resumes a stream for a caller who has the rights of all requests so far. */
  listen(exchange: HttpExchange): void {
    if (this.copy === undefined) this.#listen(exchange);
    else void this.copy.listen(exchange, () => this.#listen(exchange));
  }

  /** Called before a client gets notices. */
  listened(caller: Caller): void {
    this.copy?.listened(caller);
  }

  #listen(exchange: HttpExchange): void {
    if (this.#isClosed) return this.#deps.http.responder.refuse(exchange, sessionNotFound, { status: 404 });
    const scopes = this.#scopes.read(exchange.caller);
    if (scopes === undefined) return this.streams.listen(exchange);
    const { http, headers } = this.streams;
    // No consent of the user helps: such a caller needs another session.
    if (scopes.length === 0) return http.responder.refuse(exchange, sessionNotFound, { status: 404 });
    http.responder.refuse(exchange, toScopeError(scopes), { status: 403, headers });
  }

  /** Ends the stream of notices, and sends no more questions. Resolves when every request has its answer. */
  drain(): Promise<void> {
    this.#isDraining = true;
    this.#asks?.drain();
    this.streams.drain();
    return this.dispatcher.quiet();
  }

  /** Aborts the running calls, ends every stream and releases the permit. Never throws. Callable twice. */
  close(reason: SessionEnd["reason"] = "closed"): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deps.channel.end(reason);
    this.#isDraining = true;
    // First: the requests that are aborted here have no end in their logs, so other replicas answer that the outcome is unknown.
    this.copy?.peers.leave();
    try {
      this.#asks?.close();
      // Before the subscriptions: a request that waits for one gets the same answer as any other.
      this.dispatcher.close("the session has ended");
      this.#subscriptions.close();
      this.streams.close(reason === "closed");
    } catch (cause) {
      void internalError(cause, "the end of a session", this.#deps.http.runtime.report);
    }
    // Handlers that ignore their signal run on: a client that ends its sessions must not run more of them than others.
    this.dispatcher.whenIdle(() => this.#deps.permit.release());
  }

  #ping(exchange: HttpExchange, admitted: AdmittedRequest): void {
    const { headers, http } = this.streams;
    const [outerTrace, version] = [readTraceHeaders(exchange.request), this.version];
    const request = { ...admitted, era: "legacy", version, method: ping, call: undefined, outerTrace } as const;
    observeRequest(http.runtime.observers, request, this.#deps.channel)?.answered(emptyResult);
    http.responder.answer(exchange.reply, emptyResult, { id: admitted.frame.id, headers });
  }

  /** Adds the rights of a caller: from now on the streams may carry data that needs them. */
  #addScopes(caller: Caller): void {
    if (this.#scopes.add(caller)) this.streams.dismiss();
    this.copy?.shareRights();
  }

  /** Cancels a request, wherever it runs. */
  #cancel(id: unknown): void {
    if (!isRequestId(id)) return;
    if (this.dispatcher.has(id)) this.dispatcher.cancel(id);
    else this.copy?.peers.tell("cancel", id);
  }
}

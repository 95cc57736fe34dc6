import { CallContext } from "../../call/call-context.ts";
import { clientKinds } from "../../mcp/asking/ask-protocol.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import type { AdmittedRequest, ClientRequest } from "../../mcp/dispatcher.ts";
import { checkInitialize, readClient, withClient } from "../../mcp/envelope.ts";
import { legacyVersions, negotiate } from "../../mcp/handshake.ts";
import { methodsOf, type Methods } from "../../mcp/methods.ts";
import type { NotificationFrame, RequestFrame, ResponseFrame } from "../../mcp/parse-frame.ts";
import {
  closing,
  ownParam,
  rpcCodes,
  sessionNotFound,
  toInternalAnswer,
  toRpcError,
  unknownMethod,
  type RpcAnswer,
  type RpcError,
} from "../../mcp/protocol.ts";
import { observeRequest, type ObservedRequest } from "../../mcp/observed-request.ts";
import { downgrade } from "../../mcp/protocol-features.ts";
import type { SessionEnd } from "../../observe/observation.ts";
import { ObservedChannel } from "../../observe/observed-channel.ts";
import { callerKey, type Caller } from "../../surface/caller.ts";
import { isRefused, type Permit } from "../admission.ts";
import { headerParamsFor, checkParamHeaders, readTraceHeaders } from "../check-envelope.ts";
import type { HttpDeps } from "../http-deps.ts";
import type { HttpExchange } from "../message.ts";
import { withView } from "../read-view.ts";
import type { RefuseOptions } from "../respond.ts";
import { Session } from "./session.ts";
import { answerFault, storeAway } from "./session-peers.ts";
import { readClientExtensions } from "../../mcp/extensions/extensions.ts";
import { type NewSession, SharedSessions, toFullError } from "./shared-sessions.ts";

const missing = toRpcError(
  rpcCodes.busy,
  "Bad request: Mcp-Session-Id header is required, or MCP-Protocol-Version and _meta from 2026-07-28 on",
);
const again = toRpcError(rpcCodes.invalidRequest, "Invalid request: this session is already initialized");
const badVersion = toRpcError(rpcCodes.busy, 'Bad request: unsupported protocol version in "MCP-Protocol-Version"');
/** Protocol versions that the header of a session may name. A missing header means 2025-03-26, so that is allowed, too. */
const headerVersions: ReadonlySet<string | undefined> = new Set([...legacyVersions, "2025-03-26", undefined]);

/**
 * Time without a request after which a session gives way to a new one, in milliseconds. Without it, more clients than sessions
 * would end each other's sessions in turn.
 */
const givesWayAfterMs = 10_000;

/** Returns whether nothing runs in a session, and its client has probably left. */
function givesWay({ dispatcher, hasLeft, idleSince = Infinity }: Session, latest: number): boolean {
  return dispatcher.isIdle && (idleSince <= latest || hasLeft);
}

/** Returns the status of an error that refuses a session. */
function statusOf(answer: RpcAnswer): { readonly status?: number } {
  if (answer.kind === "result" || answer.code !== rpcCodes.busy) return {};
  return { status: answer === storeAway ? 503 : 409 };
}

/** Returns the sender of a message in a session, with the view of its handshake. */
function bind(sender: Caller, { caller }: Session): Caller {
  return sender.isAnonymous ? caller : withView(sender, caller.view);
}

/**
 * Serves clients up to 2025-11-25. Each has a session, with ids, a log and subscriptions. Idle sessions end after a time, by one
 * timer for all. Call `close()` when done.
 */
export class SessionHandler {
  readonly #setting: HttpDeps;
  readonly #methods: Methods;
  readonly #sessions = new Map<string, Session>();
  /** Sessions that have ended while handlers run on. */
  readonly #ending = new Set<Session>();
  #stopTimer: (() => void) | undefined;
  /** Number of messages that were dropped in sessions that have ended. */
  #dropped = 0;
  #isDraining = false;
  /** `undefined`: no other replica serves these sessions. */
  readonly #shared: SharedSessions | undefined;

  /** @param cluster - the replicas that serve the sessions, too. @default this process serves them alone */
  constructor(setting: HttpDeps, cluster?: Cluster) {
    this.#setting = setting;
    this.#methods = methodsOf(setting.runtime);
    if (cluster === undefined) return;
    this.#shared = new SharedSessions(setting, cluster, {
      all: this.#sessions,
      permit: (caller) => (this.#isDraining ? closing : this.#permitSession(caller)),
      open: (session) => this.#open(session),
      givesWay: (of) => this.#idlest(of, true),
      end: (session, reason) => this.#end(session, reason),
    });
  }

  /** Serves a request whose headers agree with its body. */
  request(exchange: HttpExchange, frame: RequestFrame): void {
    const { request } = exchange;
    const { method } = frame;
    if (this.#isDraining) return this.#refuse(exchange, closing, { status: 503 });
    const isFirst = method === "initialize" && request.header("mcp-session-id") === undefined;
    if (isFirst) return this.#onInitialize(exchange, frame);
    this.#with(exchange, (session) => this.#onRequest(exchange, frame, session));
  }

  #onRequest(exchange: HttpExchange, frame: RequestFrame, session: Session): void {
    const { request } = exchange;
    const { method, id } = frame;
    const { counters, runtime } = this.#setting;
    counters.reached("caps");
    session.touch();
    const { headers } = session;
    if (method === "initialize") return this.#refuse(exchange, again, { status: 400, id, headers });
    const caller = bind(exchange.caller, session);
    const view = runtime.viewFor(caller);
    if (view.kind === "error") return this.#refuse(exchange, view, { id, headers });
    const admitted = { frame, caller, view };
    const wrong = checkParamHeaders(request, frame, headerParamsFor(admitted));
    if (wrong !== undefined) return this.#refuse(exchange, wrong.error, { status: wrong.status, id, headers });
    session.request(exchange, admitted);
  }

  /** Handles a notification or a response. */
  message(exchange: HttpExchange, frame: NotificationFrame | ResponseFrame): void {
    this.#with(exchange, (session) => this.#onMessage(exchange, frame, session));
  }

  #onMessage(exchange: HttpExchange, frame: NotificationFrame | ResponseFrame, session: Session): void {
    session.touch();
    const caller = bind(exchange.caller, session);
    // A caller whose view is denied may still cancel.
    const isCancel = frame.kind === "notification" && frame.method === "notifications/cancelled";
    const isAllowed = isCancel || this.#setting.runtime.viewFor(caller).kind === "view";
    const passed = isAllowed ? session.message(frame, caller) : undefined;
    const accept = (): void => exchange.reply.answer({ status: 202, headers: session.headers });
    if (passed === undefined) accept();
    else passed.then(accept, () => this.#refuse(exchange, storeAway, { status: 503 }));
  }

  /** Opens or resumes a stream of the session that the request names. */
  get(exchange: HttpExchange): void {
    this.#with(exchange, (session) => this.#onGet(exchange, session));
  }

  #onGet(exchange: HttpExchange, session: Session): void {
    const { request, reply } = exchange;
    const caller = bind(exchange.caller, session);
    const view = this.#setting.runtime.viewFor(caller);
    // An error status, because the client expects a stream.
    if (view.kind === "error") return this.#refuse(exchange, view, { status: 403 });
    // Allowed during a drain, so that a client can resume a call that still runs.
    session.listen({ request, reply, caller });
  }

  /** Ends the session that the request names. */
  delete(exchange: HttpExchange): void {
    this.#with(exchange, (session) => {
      const accept = (): void => exchange.reply.answer({ status: 200 });
      if (this.#shared === undefined) {
        this.#end(session, "client");
        return accept();
      }
      const refuse = (): void => this.#refuse(exchange, storeAway, { status: 503 });
      void this.#shared.end(session, "client").then((hasEnded) => (hasEnded ? accept() : refuse()));
    });
  }

  /** Number of messages that were dropped unsent, in all sessions so far. */
  get dropped(): number {
    let count = this.#dropped;
    for (const session of this.#sessions.values()) count += session.dropped;
    return count;
  }

  /** Ends every stream of notices, and refuses new requests. Resolves when every request has its answer. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await Promise.all(Array.from(this.#sessions.values(), (session) => session.drain()));
  }

  /** Ends every session. Callable twice. */
  async close(): Promise<void> {
    this.#isDraining = true;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const session of this.#sessions.values()) this.#end(session, "closed");
    this.#shared?.close();
  }

  /** Resolves when no handler runs. A handler that never settles keeps it from that. */
  async idle(): Promise<void> {
    const all = this.#all().map(({ dispatcher }) => new Promise<void>((resolve) => dispatcher.whenIdle(resolve)));
    await Promise.all(all);
  }

  /** Requests whose handlers run, also after the answer, and in sessions that have ended. */
  get running(): readonly ClientRequest[] {
    return this.#all().flatMap(({ dispatcher }) => dispatcher.running);
  }

  #all(): readonly Session[] {
    return [...this.#sessions.values(), ...this.#ending];
  }

  /**
   * Hands over the session that a request names: at once, or when it is adopted. Refuses the request otherwise: a session of another
   * caller looks as if it did not exist.
   */
  #with(exchange: HttpExchange, run: (session: Session) => void): void {
    const { caller, request } = exchange;
    const id = request.header("mcp-session-id");
    if (id === undefined) return this.#refuse(exchange, missing, { status: 400, stage: "session" });
    const session = this.#sessions.get(id);
    if (session === undefined && this.#shared !== undefined) {
      return void this.#adopt(exchange, this.#shared.adopt(id, caller), run);
    }
    const isOwn = session !== undefined && callerKey(session.caller) === callerKey(caller);
    if (isOwn) this.#enter(exchange, session, run);
    else this.#refuse(exchange, sessionNotFound, { status: 404 });
  }

  #enter(exchange: HttpExchange, session: Session, run: (session: Session) => void): void {
    if (headerVersions.has(exchange.request.header("mcp-protocol-version"))) return run(session);
    this.#refuse(exchange, badVersion, { status: 400, stage: "envelope" });
  }

  async #adopt(
    exchange: HttpExchange,
    adopting: Promise<Session | RpcError>,
    run: (session: Session) => void,
  ): Promise<void> {
    const { bytes, reply } = exchange;
    bytes?.hold();
    const adopted = await adopting;
    try {
      // It may have ended since.
      const found = adopted instanceof Session && !this.#sessions.has(adopted.id) ? sessionNotFound : adopted;
      if (found instanceof Session) this.#enter(exchange, found, run);
      else this.#refuse(exchange, found, { status: found === sessionNotFound ? 404 : 503 });
    } catch (cause) {
      answerFault(this.#setting, reply, cause);
    } finally {
      bytes?.release();
    }
  }

  #onInitialize(exchange: HttpExchange, frame: RequestFrame): void {
    const { counters, runtime } = this.#setting;
    const { id, params } = frame;
    counters.reached("caps");
    const caller = withClient(exchange.caller, readClient(ownParam(params, "clientInfo")));
    const view = runtime.viewFor(caller);
    if (view.kind === "error") return this.#refuse(exchange, view, { id });
    const failed = checkInitialize(params);
    if (failed !== undefined) return this.#refuse(exchange, failed, { id });
    const permit = this.#permitSession(caller);
    if ("kind" in permit) return this.#refuse(exchange, permit, { status: 409, id });
    void this.#initialise(exchange, { frame, caller, view }, permit);
  }

  /** Permits a session, if need be in place of one whose client has probably left. */
  #permitSession(caller: Caller): Permit | RpcError {
    const { admission } = this.#setting;
    let permit = admission.openSession(caller);
    if (isRefused(permit) && this.#endIdlest(permit.scope === "principal" ? caller : undefined)) {
      permit = admission.openSession(caller);
    }
    return isRefused(permit) ? toFullError(permit) : permit;
  }

  async #initialise({ request, reply }: HttpExchange, admitted: AdmittedRequest, permit: Permit): Promise<void> {
    const { responder, runtime } = this.#setting;
    const { id, method } = admitted.frame;
    const channel = new ObservedChannel(runtime.observers, "http");
    const observed = this.#observe({ ...admitted, outerTrace: readTraceHeaders(request) }, channel);
    try {
      const handshake = await this.#handshake(admitted);
      const created = handshake.kind === "result" ? this.#create(admitted, permit, channel) : handshake;
      const opened = created instanceof Promise ? await created : created;
      const [answer, headers] = opened instanceof Session ? [handshake, opened.headers] : [opened, {}];
      if (answer.kind === "error") permit.release();
      observed?.answered(answer);
      responder.answer(reply, answer, { id, headers, ...statusOf(answer) });
    } catch (cause) {
      permit.release();
      const answer = toInternalAnswer(cause, `method "${method}"`, runtime.report);
      observed?.answered(answer);
      responder.answer(reply, answer, { id, status: 500 });
    }
  }

  /** Records a handshake, which no dispatcher serves. */
  #observe(
    admitted: AdmittedRequest & Pick<ClientRequest, "outerTrace">,
    channel: ObservedChannel,
  ): ObservedRequest | undefined {
    const { method, params } = admitted.frame;
    const known = { method: this.#methods.legacy.get(method), version: negotiate(params) };
    const request = { ...admitted, ...known, era: "legacy", call: undefined } as const;
    return observeRequest(this.#setting.runtime.observers, request, channel);
  }

  async #handshake({ frame, caller, view }: AdmittedRequest): Promise<RpcAnswer> {
    const { method: name, params } = frame;
    const method = this.#methods.legacy.get(name);
    if (method === undefined) return unknownMethod;
    const version = negotiate(params);
    const request = { era: "legacy", call: new CallContext({ caller }), version, view } as const;
    return downgrade(await method.run(params, request), version);
  }

  #create(
    { frame, caller }: AdmittedRequest,
    permit: Permit,
    channel: ObservedChannel,
  ): Session | Promise<Session | RpcError> {
    const capabilities = ownParam(frame.params, "capabilities");
    const client = { kinds: clientKinds(capabilities), extensions: readClientExtensions(capabilities) };
    const session = { id: crypto.randomUUID(), permit, caller, ...client, version: negotiate(frame.params), channel };
    return this.#shared === undefined ? this.#open(session) : this.#shared.create(session);
  }

  #open(session: NewSession): Session {
    const { caller, channel, id, version } = session;
    channel.start(caller, version);
    const opened = new Session({
      ...session,
      http: this.#setting,
      onEnded: (one) => this.#end(one, "client"),
    });
    this.#sessions.set(id, opened);
    this.#arm(this.#setting.bounds.sessionIdleMs);
    return opened;
  }

  /**
   * Ends the session that has been idle the longest, since most clients leave without a DELETE. Spares a session that had a request
   * in the last ten seconds, unless its client has closed its stream since. Returns whether it ended one.
   *
   * @param of - ends only a session of this caller. @default any caller
   */
  #endIdlest(of?: Caller): boolean {
    const idlest = this.#idlest(of);
    if (idlest !== undefined) this.#end(idlest, "idle");
    return idlest !== undefined;
  }

  /** @param isAlone - only a session that no other replica has served. */
  #idlest(of: Caller | undefined, isAlone = false): Session | undefined {
    let idlest: Session | undefined;
    let since = Infinity;
    const latest = this.#setting.clock.now() - givesWayAfterMs;
    for (const session of this.#sessions.values()) {
      const isOther = of !== undefined && callerKey(session.caller) !== callerKey(of);
      if (isOther || !givesWay(session, latest) || (isAlone && !session.isAlone)) continue;
      const { idleSince = Infinity } = session;
      if (idleSince < since) [idlest, since] = [session, idleSince];
    }
    return idlest;
  }

  /** Ends a session on this replica. Its permit is released when no handler runs for it. */
  #end(session: Session, reason: SessionEnd["reason"]): void {
    if (!this.#sessions.delete(session.id)) return;
    this.#dropped += session.dropped;
    session.close(reason);
    this.#ending.add(session);
    session.dispatcher.whenIdle(() => void this.#ending.delete(session));
  }

  #arm(delayMs: number): void {
    const { clock, bounds } = this.#setting;
    if (bounds.sessionIdleMs === 0 || this.#sessions.size === 0) return;
    this.#stopTimer ??= clock.after(delayMs, () => {
      this.#stopTimer = undefined;
      this.#arm(this.#sweep());
    });
  }

  /** Ends sessions that were idle for too long. Returns the milliseconds until the next one may be due. */
  #sweep(): number {
    const { clock, bounds } = this.#setting;
    const now = clock.now();
    let nextMs = bounds.sessionIdleMs;
    for (const session of this.#sessions.values()) {
      const leftMs = (session.idleSince ?? now) + bounds.sessionIdleMs - now;
      // Timers may fire less than a millisecond early.
      if (leftMs < 1) this.#end(session, "idle");
      else nextMs = Math.min(nextMs, leftMs);
    }
    return nextMs;
  }

  #refuse(exchange: HttpExchange, error: RpcError, options: RefuseOptions): void {
    this.#setting.responder.refuse(exchange, error, options);
  }
}

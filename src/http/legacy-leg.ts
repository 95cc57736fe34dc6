import { callerKey, type Caller } from "../surface/caller.ts";
import { clientKinds } from "../mcp/asking/ask-protocol.ts";
import { checkInitialize, readClient, withClient } from "../mcp/envelope.ts";
import { legacyVersions, negotiate } from "../mcp/handshake.ts";
import { downgrade } from "../mcp/protocol-features.ts";
import { methodsOf, toInternalAnswer, type Methods } from "../mcp/methods.ts";
import {
  closing,
  ownParam,
  rpcCodes,
  sessionNotFound,
  toRpcError,
  unknownMethod,
  type RpcAnswer,
  type RpcError,
} from "../mcp/protocol.ts";
import type { ClientRequest } from "../mcp/dispatcher.ts";
import { CallContext } from "../call/call-context.ts";
import type { OverBudget } from "../spine/budget.ts";
import { isRefused, type Place } from "./admission.ts";
import { headerParamsFor, judgeParams } from "./judge-envelope.ts";
import type { AdmittedPost, HttpExchange, MessagePost, RequestPost } from "./message.ts";
import { Session } from "./sessions/session.ts";
import type { HttpSetting } from "./setting.ts";
import { withView } from "./read-view.ts";

const missing = toRpcError(
  rpcCodes.busy,
  "Bad request: Mcp-Session-Id header is required, or MCP-Protocol-Version and _meta from 2026-07-28 on",
);
const again = toRpcError(rpcCodes.invalidRequest, "Invalid request: this session is initialised already");
const badVersion = toRpcError(rpcCodes.busy, "Bad request: unsupported protocol version");
/** The versions that a header in a session may name. To leave it out means 2025-03-26, so that may be named as well. */
const headerVersions: ReadonlySet<string | undefined> = new Set([...legacyVersions, "2025-03-26", undefined]);

/**
 * Time without a request after which a session gives way to a new one, in milliseconds. Without it, more clients than places
 * would end each other's sessions in turn.
 */
const givesWayAfterMs = 10_000;

/** Returns the sender of a message in a session, with the view of its handshake. */
function bind(sender: Caller, { caller }: Session): Caller {
  return sender.isAnonymous ? caller : withView(sender, caller.view);
}

/**
 * Serves clients up to 2025-11-25. Each has a session, with ids, a log and subscriptions. An idle session is ended after a time, with
 * one timer for all. Call `close()` when done.
 */
export class LegacyLeg {
  readonly #setting: HttpSetting;
  readonly #methods: Methods;
  readonly #sessions = new Map<string, Session>();
  /** Sessions that have ended, and whose handlers run on. */
  readonly #ending = new Set<Session>();
  #stopTimer: (() => void) | undefined;
  /** Messages that were thrown away in sessions that have ended. */
  #dropped = 0;
  #isDraining = false;

  constructor(setting: HttpSetting) {
    this.#setting = setting;
    this.#methods = methodsOf(setting.runtime);
  }

  request(post: RequestPost): void {
    const { method, id } = post.frame;
    if (this.#isDraining) return this.#refuse(post, closing, 503);
    const isFirst = method === "initialize" && post.request.header("mcp-session-id") === undefined;
    if (isFirst) return this.#onInitialize(post);
    const session = this.#find(post);
    if (session === undefined) return;
    const { counters, responder, runtime } = this.#setting;
    counters.reached("caps");
    session.touch();
    const { headers } = session;
    if (method === "initialize") return responder.refuse(post.reply, again, { status: 400, id, headers });
    const { request, reply, frame, bytes } = post;
    const caller = bind(post.caller, session);
    const view = runtime.viewFor(caller);
    if (view.kind === "error") return responder.answer(reply, view, { id, era: "legacy", headers });
    const wrong = judgeParams(request, frame, (tool) => headerParamsFor(view, tool, caller));
    if (wrong !== undefined) return responder.refuse(reply, wrong.error, { status: wrong.status, id, headers });
    session.request({ request, reply, caller, frame, bytes, view });
  }

  message(post: MessagePost): void {
    const { reply, frame } = post;
    const session = this.#find(post);
    if (session === undefined) return;
    session.touch();
    const caller = bind(post.caller, session);
    // A caller whose view is denied may still cancel.
    const isCancel = frame.kind === "notification" && frame.method === "notifications/cancelled";
    if (isCancel || this.#setting.runtime.viewFor(caller).kind === "view") session.message(frame, caller);
    reply.answer({ status: 202, headers: session.headers });
  }

  /** Opens or resumes a stream of the session that the request names. */
  get({ request, reply, caller: sender }: HttpExchange): void {
    const session = this.#find({ request, reply, caller: sender });
    if (session === undefined) return;
    const caller = bind(sender, session);
    const view = this.#setting.runtime.viewFor(caller);
    // A stream was asked for: what is no stream must not look like one.
    if (view.kind === "error") return this.#refuse({ request, reply, caller }, view, 403);
    // Who resumes a call that goes on is not turned away while it is waited for.
    session.listen({ request, reply, caller });
  }

  /** Ends the session that the request names. */
  delete(exchange: HttpExchange): void {
    const session = this.#find(exchange);
    if (session === undefined) return;
    this.#end(session);
    exchange.reply.answer({ status: 200 });
  }

  /** Number of messages that were thrown away unsent, in all sessions so far. */
  get dropped(): number {
    let count = this.#dropped;
    for (const session of this.#sessions.values()) count += session.dropped;
    return count;
  }

  /** Ends every stream that belongs to no request and takes nothing new. Resolves when every request has its answer. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await Promise.all(Array.from(this.#sessions.values(), (session) => session.drain()));
  }

  /** Ends every session. Callable twice. */
  async close(): Promise<void> {
    this.#isDraining = true;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (const session of this.#sessions.values()) this.#end(session);
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

  /** Returns the session that a request names. Refuses the request otherwise: a session of another caller looks as if it did not exist. */
  #find(exchange: HttpExchange): Session | undefined {
    const { request, caller } = exchange;
    const id = request.header("mcp-session-id");
    const session = id === undefined ? undefined : this.#sessions.get(id);
    const isOwn = session !== undefined && callerKey(session.caller) === callerKey(caller);
    const version = request.header("mcp-protocol-version");
    if (id === undefined) this.#refuse(exchange, missing, 400);
    else if (!isOwn) this.#refuse(exchange, sessionNotFound, 404);
    else if (!headerVersions.has(version)) this.#refuse(exchange, badVersion, 400);
    else return session;
    return undefined;
  }

  #onInitialize({ request, reply, caller: sender, frame, bytes }: RequestPost): void {
    const { counters, responder, runtime } = this.#setting;
    const { id } = frame;
    counters.reached("caps");
    const caller = withClient(sender, readClient(ownParam(frame.params, "clientInfo")));
    const view = runtime.viewFor(caller);
    if (view.kind === "error") return responder.answer(reply, view, { id, era: "legacy" });
    const failed = checkInitialize(frame.params);
    if (failed !== undefined) return responder.answer(reply, failed, { id, era: "legacy" });
    const place = this.#openPlace(caller);
    if (isRefused(place)) {
      const error = toRpcError(rpcCodes.busy, "Server busy: too many sessions are open", place);
      return responder.refuse(reply, error, { status: 409, id });
    }
    void this.#initialise({ request, reply, caller, frame, bytes, view }, place);
  }

  /** Takes a place, if need be of a session whose client has probably left. */
  #openPlace(caller: Caller): Place | OverBudget {
    const { admission } = this.#setting;
    const place = admission.openSession(caller);
    if (!isRefused(place)) return place;
    const hasMadeWay = this.#endIdlest(place.scope === "principal" ? caller : undefined);
    return hasMadeWay ? admission.openSession(caller) : place;
  }

  async #initialise(post: AdmittedPost, place: Place): Promise<void> {
    const { frame, reply } = post;
    const { responder, runtime } = this.#setting;
    const { id, method } = frame;
    try {
      const answer = await this.#handshake(post);
      const headers = answer.kind === "result" ? this.#mint(post, place) : {};
      if (answer.kind === "error") place.release();
      responder.answer(reply, answer, { id, era: "legacy", headers });
    } catch (cause) {
      place.release();
      responder.answer(reply, toInternalAnswer(cause, method, runtime.report), { id, era: "legacy", status: 500 });
    }
  }

  async #handshake({ frame, caller, view }: AdmittedPost): Promise<RpcAnswer> {
    const { method: name, params } = frame;
    const method = this.#methods.legacy.get(name);
    if (method === undefined) return unknownMethod;
    const version = negotiate(params);
    const request = { era: "legacy", call: new CallContext({ caller }), version, view } as const;
    return downgrade(await method.run(params, request), version);
  }

  #mint({ frame, caller }: RequestPost, place: Place): Readonly<Record<string, string>> {
    const id = crypto.randomUUID();
    const kinds = clientKinds(ownParam(frame.params, "capabilities"));
    const version = negotiate(frame.params);
    this.#sessions.set(id, new Session({ http: this.#setting, id, place, caller, kinds, version }));
    this.#arm(this.#setting.bounds.sessionIdleMs);
    return { "mcp-session-id": id };
  }

  /**
   * Ends the session that has been idle the longest: most clients leave without a DELETE. Ends none that had a request in the
   * last ten seconds, unless its client has closed its stream since. Returns whether it ended one.
   *
   * @param of - ends only a session of this caller. @default of any
   */
  #endIdlest(of?: Caller): boolean {
    let idlest: Session | undefined;
    let since = Infinity;
    const latest = this.#setting.clock.now() - givesWayAfterMs;
    for (const session of this.#sessions.values()) {
      if (!session.dispatcher.isIdle || (of !== undefined && callerKey(session.caller) !== callerKey(of))) continue;
      const { idleSince = Infinity } = session;
      const givesWay = idleSince <= latest || session.hasLeft;
      if (givesWay && idleSince < since) [idlest, since] = [session, idleSince];
    }
    if (idlest !== undefined) this.#end(idlest);
    return idlest !== undefined;
  }

  /** Ends a session. Its place is free when no handler runs for it. */
  #end(session: Session): void {
    this.#sessions.delete(session.id);
    this.#dropped += session.dropped;
    session.close();
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

  /** Ends sessions that were idle for too long. Returns when the next one may be due, in milliseconds. */
  #sweep(): number {
    const { clock, bounds } = this.#setting;
    const now = clock.now();
    let nextMs = bounds.sessionIdleMs;
    for (const session of this.#sessions.values()) {
      const leftMs = (session.idleSince ?? now) + bounds.sessionIdleMs - now;
      // Timers may fire a little early; whole milliseconds are as fine as they get.
      if (leftMs < 1) this.#end(session);
      else nextMs = Math.min(nextMs, leftMs);
    }
    return nextMs;
  }

  #refuse({ reply }: HttpExchange, error: RpcError, status: number): void {
    this.#setting.responder.refuse(reply, error, { status });
  }
}

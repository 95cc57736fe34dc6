import type { Caller } from "../surface/caller.ts";
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
import type { AdmittedPost, HttpExchange, MessagePost, RequestPost } from "./leg.ts";
import { Session } from "./sessions/session.ts";
import { Sessions } from "./sessions/sessions.ts";
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

/** Who sends something within a session: by the view of its handshake, whatever this request says. */
function bind(sender: Caller, { caller }: Session): Caller {
  return withView(sender, caller.view);
}

/** Serves clients up to 2025-11-25. Each has a session, with ids, a log and subscriptions. Call `close()` when done. */
export class LegacyLeg {
  readonly #setting: HttpSetting;
  readonly #methods: Methods;
  readonly #sessions: Sessions;
  #isDraining = false;

  constructor(setting: HttpSetting) {
    this.#setting = setting;
    this.#methods = methodsOf(setting.runtime);
    this.#sessions = new Sessions(setting.clock, setting.bounds.sessionIdleMs);
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
    this.#sessions.end(exchange.request.header("mcp-session-id") ?? "");
    exchange.reply.answer({ status: 200 });
  }

  /** Number of messages that were thrown away unsent. */
  get dropped(): number {
    return this.#sessions.dropped;
  }

  /** Ends every stream that belongs to no request and takes nothing new. Resolves when every request has its answer. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#sessions.drain();
  }

  /** Ends every session. Callable twice. */
  async close(): Promise<void> {
    this.#isDraining = true;
    this.#sessions.close();
  }

  /** Resolves when no handler runs. A handler that never settles keeps it from that. */
  idle(): Promise<void> {
    return this.#sessions.idle();
  }

  /** Requests whose handlers run, also after the answer. */
  get running(): readonly ClientRequest[] {
    return this.#sessions.running;
  }

  /** The session that a request names, where it is its caller's; else it was answered. */
  #find(exchange: HttpExchange): Session | undefined {
    const { request, caller } = exchange;
    const id = request.header("mcp-session-id");
    const session = id === undefined ? undefined : this.#sessions.find(id, caller);
    const version = request.header("mcp-protocol-version");
    if (id === undefined) this.#refuse(exchange, missing, 400);
    else if (session === undefined) this.#refuse(exchange, sessionNotFound, 404);
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
    const hasMadeWay = this.#sessions.endIdlest(place.scope === "principal" ? caller : undefined);
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
    this.#sessions.add(id, new Session({ http: this.#setting, id, place, caller, kinds, version }));
    return { "mcp-session-id": id };
  }

  #refuse({ reply }: HttpExchange, error: RpcError, status: number): void {
    this.#setting.responder.refuse(reply, error, { status });
  }
}

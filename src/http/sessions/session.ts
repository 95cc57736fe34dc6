import { CallContext } from "../../call/call-context.ts";
import type { AskKind } from "../../catalog/asking.ts";
import type { Caller } from "../../surface/caller.ts";
import { SurfaceError } from "../../errors.ts";
import { progressTokenOf } from "../../mcp/envelope.ts";
import { ping, runMethod, toInternalAnswer, type Method, type Methods } from "../../mcp/methods.ts";
import { ownParam } from "../../mcp/own-param.ts";
import type { NotificationFrame, ResponseFrame } from "../../mcp/parse-frame.ts";
import { toScopeError, type RpcAnswer } from "../../mcp/protocol.ts";
import { busy, duplicateId, emptyResult, sessionNotFound, unknownMethod } from "../../mcp/refusals.ts";
import type { RequestId } from "../../mcp/request-id.ts";
import { SubscriptionSession } from "../../mcp/subscriptions/subscription-session.ts";
import { internalError } from "../../surface/fault.ts";
import { guard, type Guarding } from "../guard.ts";
import type { HttpExchange } from "../leg.ts";
import type { HttpSetting } from "../setting.ts";
import { PostedRequest, type RequestPost } from "./posted-request.ts";
import { type Running, RunningRequests } from "./running-requests.ts";
import { SessionCalls } from "./session-calls.ts";
import { SessionScopes } from "./session-scopes.ts";
import { SessionStreams } from "./session-streams.ts";
import { WorkCount } from "./work-count.ts";

/** What a session is made of. */
export interface SessionSetting {
  readonly http: HttpSetting;
  readonly methods: Methods;
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
export class Session {
  readonly #setting: SessionSetting;
  readonly #running = new RunningRequests(() => this.touch());
  readonly #subscriptions: SubscriptionSession;
  readonly #streams: SessionStreams;
  readonly #scopes: SessionScopes;
  readonly #calls: SessionCalls;
  /** Handlers that run for the session, maybe after their requests were cancelled or the session was closed. */
  readonly work: WorkCount = new WorkCount();
  #activeAt: number;
  /** Whether the client has closed its stream and sent nothing since. */
  hasLeft = false;
  #isClosed = false;

  constructor(setting: SessionSetting) {
    const { http, id, version, caller, kinds } = setting;
    this.#setting = setting;
    this.#activeAt = http.clock.now();
    this.#scopes = new SessionScopes(http.runtime);
    this.#streams = new SessionStreams({
      http,
      headers: Object.freeze({ "mcp-session-id": id }),
      primes: version >= firstPrimed,
      caller,
      touched: () => this.touch(),
      left: () => (this.hasLeft = true),
      setFull: (isFull) => this.#subscriptions.setOutputFull(isFull),
      announce: () => this.#subscriptions.announce(),
    });
    this.#calls = new SessionCalls(this.#streams, kinds);
    this.#subscriptions = new SubscriptionSession({
      runtime: http.runtime,
      send: (json) => this.#streams.tell(json),
      answer: (requestId, answer) => this.#running.answer(requestId, answer),
      clock: http.clock,
      stallMs: http.bounds.stallMs,
      // A client may have its reasons for not listening, and one that is too slow has lost its stream already.
      onStalled: () => {},
      reached: http.counters.reached,
    });
    this.#subscriptions.setOutputFull(true);
  }

  /** Whose it is. The view that they came by in the handshake holds for as long as it lasts. */
  get caller(): Caller {
    return this.#setting.caller;
  }

  /** What every answer within it says. */
  get headers(): Readonly<Record<string, string>> {
    return this.#streams.headers;
  }

  /** Since when it has done nothing; `undefined`: something runs, somebody listens, or has yet to answer. */
  get idleSince(): number | undefined {
    const isActive = this.#running.size > 0 || this.#streams.isRead || this.#calls.isAsking;
    return isActive ? undefined : this.#activeAt;
  }

  /** How many messages were thrown away before anybody was sent them. */
  get dropped(): number {
    return this.#streams.dropped;
  }

  /** It does something: its time begins anew. */
  touch(): void {
    this.#activeAt = this.#setting.http.clock.now();
    this.hasLeft = false;
  }

  /** Takes a request. */
  request(post: RequestPost): void {
    const answer = this.#answerNow(post);
    if (answer === undefined) return;
    const { headers, http } = this.#streams;
    const { id } = post.frame;
    // To who waits for the first of two under one id, an answer to the second must not look like the first one's.
    const status = answer === duplicateId ? { status: 400 } : {};
    http.responder.answer(post.reply, answer, { id, era: "legacy", headers, ...status });
  }

  /** Takes a notification; what is no notification of the protocol's is dropped. */
  notice(frame: NotificationFrame, caller: Caller): void {
    const { method } = frame;
    if (method === "notifications/cancelled") return this.#cancel(frame);
    if (method === "notifications/initialized") {
      this.#asked(caller);
      this.#subscriptions.initialised(caller);
    }
    if (method === "notifications/roots/list_changed") this.#calls.rootsChanged();
  }

  /**
   * Takes what its client answers to something that it was asked; whatever else it is, it is dropped, as it is from a lesser
   * token than that of the call.
   */
  answered(frame: ResponseFrame, caller: Caller): void {
    this.#calls.answered(frame, caller);
  }

  /** Opens the stream of what belongs to no request, or resumes one, for who was granted all that was asked with here. */
  listen(exchange: HttpExchange): void {
    const scopes = this.#scopes.read(exchange.caller);
    if (scopes === undefined) return this.#streams.listen(exchange);
    const { http, headers } = this.#streams;
    // Where no consent helps, a session of their own does: this one is not theirs.
    if (scopes.length === 0) return http.responder.refuse(exchange.reply, sessionNotFound, { status: 404 });
    http.responder.refuse(exchange.reply, toScopeError(scopes), { status: 403, headers });
  }

  /** Ends the stream of what belongs to no request, and asks nothing more. Resolves when nothing runs any more. */
  drain(): Promise<void> {
    this.#calls.drain();
    this.#streams.hush();
    return this.#running.quiet();
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
    this.#calls.close();
    for (const { posted, call, turning } of this.#running.takeAll()) {
      if (turning?.withdraw() !== true) call?.abort(new SurfaceError("CLOSED", "Calling: the session has ended"));
      posted.ended();
    }
    this.#streams.close();
  }

  /** What a request is answered with at once; `undefined`: the answer follows. */
  #answerNow(post: RequestPost): RpcAnswer | undefined {
    const { id, method: name, params } = post.frame;
    const method = this.#setting.methods.legacy.get(name);
    if (method === ping) return emptyResult;
    if (this.#running.has(id)) return duplicateId;
    const token = progressTokenOf(params);
    if (typeof token === "object") return token;
    this.#asked(post.caller);
    const posted = new PostedRequest(post, token, this.#streams);
    if (method === undefined) this.#startSubscription(posted);
    else this.#run(posted, method);
    return undefined;
  }

  /** From here on something may be told that takes what this caller was granted. */
  #asked(caller: Caller): void {
    if (this.#scopes.asked(caller)) this.#streams.dismiss();
  }

  #startSubscription(posted: PostedRequest): void {
    const { frame } = posted.post;
    if (frame.method === "resources/subscribe") return this.#subscribe({ posted });
    this.#running.set(frame.id, { posted });
    if (!this.#serveSubscription(posted.post)) this.#running.answer(frame.id, unknownMethod);
  }

  /** It may have to wait for the application, and takes a place as a read does meanwhile. */
  #subscribe(running: Running): void {
    const { post } = running.posted;
    const { http, id: session } = this.#setting;
    this.#running.set(post.frame.id, running);
    const start = (done: () => void): void => {
      running.onOver = done;
      this.#serveSubscription(post);
    };
    const turning = http.admission.take({ caller: post.caller, session, bytes: post.bytes }, "reads", start);
    if (turning === undefined) this.#running.answer(post.frame.id, busy);
    else running.turning = turning;
  }

  #serveSubscription({ frame, caller }: RequestPost): boolean {
    try {
      return this.#subscriptions.serve(frame, "legacy", caller);
    } catch (cause) {
      this.#subscriptions.cancel(frame.id);
      this.#running.answer(frame.id, toInternalAnswer(cause, frame.method, this.#setting.http.runtime.report));
      return true;
    }
  }

  #run(posted: PostedRequest, method: Method): void {
    const { frame, caller, reply, bytes } = posted.post;
    const { http, id: session } = this.#setting;
    const call = this.#calls.open(posted);
    const running: Running = { posted, call };
    this.#running.set(frame.id, running);
    const isEnded = this.#calls.endsOnDrop(posted);
    posted.onGone = () => (isEnded ? this.#end(frame.id, running) : call.drop());
    const { turn } = method;
    const guarding: Guarding = {
      method: frame.method,
      report: http.runtime.report,
      answer: (failure) => this.#running.answer(frame.id, failure),
    };
    if (turn === "none") return guard(this.#answer(running, method), guarding);
    // Its place is free when its work has ended, and not when its client has cancelled it.
    const start = (done: () => void): void => {
      const ended = this.work.begin(done);
      guard(
        this.#answer(running, method).finally(() => call.whenIdle(ended)),
        guarding,
      );
    };
    const turning = http.admission.take({ caller, session, reply, bytes }, turn, start);
    if (turning === undefined) this.#running.answer(frame.id, busy);
    else running.turning = turning;
  }

  async #answer(running: Running, method: Method): Promise<void> {
    const { method: name, params, id } = running.posted.post.frame;
    const { version, http } = this.#setting;
    const { call = new CallContext() } = running;
    const request = { era: "legacy", call, version, log: this.#calls } as const;
    const answering = runMethod({ name, method, params, request, report: http.runtime.report });
    const answer = answering instanceof Promise ? await answering : answering;
    if (this.#running.is(id, running)) this.#running.answer(id, answer);
  }

  #cancel(frame: NotificationFrame): void {
    // Only ids that isRequestId() let in are found.
    const id = ownParam(frame.params, "requestId") as RequestId;
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#subscriptions.cancel(id);
    this.#end(id, running);
  }

  /** Ends a request that nobody waits for. */
  #end(id: RequestId, running: Running): void {
    if (!this.#running.is(id, running)) return;
    this.#running.take(id);
    if (running.turning?.withdraw() !== true) running.call?.cancel();
    running.posted.cancelled();
  }
}

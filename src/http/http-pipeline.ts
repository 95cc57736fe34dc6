import { envelopeClientOf, unsupportedVersion, withClient } from "../mcp/envelope.ts";
import {
  parseFrame,
  toFrameError,
  type FrameError,
  type NotificationFrame,
  type ParsedFrame,
  type RequestFrame,
} from "../mcp/parse-frame.ts";
import { ownParam, rpcCodes, toInternalAnswer, toRpcError } from "../mcp/protocol.ts";
import type { RefusalStage } from "../observe/observation.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import { budgetKeyOf } from "./admission.ts";
import type { Authenticator } from "./auth/create-authenticator.ts";
import { HeldBytes, decodeBody } from "./body.ts";
import {
  eraOf,
  headerParamsFor,
  headerVersionOf,
  isModernHead,
  checkNotificationHeaders,
  checkParamHeaders,
  checkRequestHeaders,
  noParams,
} from "./check-envelope.ts";
import {
  HeadCheck,
  type HeadCheckOptions,
  type LocalClients,
  ServedPath,
  toCorsHeaders,
  toPreflight,
} from "./check-head.ts";
import type { HttpDeps } from "./http-deps.ts";
import type { BodyRead, HttpExchange, HttpReply, HttpRequest, HttpServe } from "./message.ts";
import { createViewReader, withView } from "./read-view.ts";
import { refuseRequest, type HttpRefusal, type RefusedExchange } from "./respond.ts";
import type { SessionHandler } from "./sessions/session-handler.ts";
import type { StatelessHandler } from "./stateless-handler.ts";

/** Dependencies of {@link HttpPipeline}. */
export interface HttpPipelineDeps extends HeadCheckOptions {
  readonly setting: HttpDeps;
  /** Refuses clients on other machines. @default they are served */
  readonly localClients?: LocalClients | undefined;
  /** Reads the address of a client. @default the address of the connection */
  readonly addressOf?: ((request: HttpRequest) => string | undefined) | undefined;
  /** The path of messages, with or without a slash at its end. */
  readonly path: string;
  /** Checks access tokens. @default every client is anonymous */
  readonly authenticator?: Authenticator | undefined;
  /** Answers requests for the health of the server; returns `false` for other requests. Called after the checks of Host and Origin. */
  readonly health?: ((request: HttpRequest, reply: HttpReply) => boolean) | undefined;
  readonly modern: Pick<StatelessHandler, "request">;
  /** @default clients up to 2025-11-25 are refused */
  readonly legacy?: Pick<SessionHandler, "request" | "message" | "get" | "delete"> | undefined;
}

const notFound = refuseRequest(404, "the MCP endpoint has another path");
const modernOnly = refuseRequest(405, "send messages by POST", { allow: "POST" });
const noSession = refuseRequest(405, "GET and DELETE need a session in Mcp-Session-Id; send messages by POST", {
  allow: "POST",
});
const badMethod = refuseRequest(405, "the method must be POST, GET or DELETE", { allow: "POST, GET, DELETE" });
const metadataOnly = refuseRequest(405, "read metadata by GET", { allow: "GET, HEAD" });
const unexpectedResponse = refuseRequest(400, "this server sent no request that this response could answer");
const bodyLate = refuseRequest(408, "the body did not arrive in time");

const accepted = Object.freeze({ status: 202 });

/** Returns whether a request is the preflight request of a page. */
function isPreflight(request: HttpRequest): boolean {
  return request.method === "OPTIONS" && request.header("origin") !== undefined;
}

/** Turns HTTP requests into messages, or refuses them in stages. Owns nothing that must be closed. */
export class HttpPipeline {
  readonly #deps: HttpPipelineDeps;
  readonly #head: HeadCheck;
  readonly #maxBytes: number;
  readonly #methods: string;
  readonly #path: ServedPath;
  readonly #metadataPaths: ReadonlySet<string>;
  readonly #readView = createViewReader();

  constructor(deps: HttpPipelineDeps) {
    this.#deps = deps;
    this.#maxBytes = deps.setting.runtime.limits.maxBytes;
    this.#head = new HeadCheck(deps, this.#maxBytes);
    this.#methods = deps.legacy === undefined ? "POST" : "GET, POST, DELETE";
    this.#path = new ServedPath(deps.path);
    this.#metadataPaths = new Set(deps.authenticator?.metadataPaths);
  }

  /** Serves one request, of whose body nothing was read. */
  readonly serve: HttpServe = (request, reply) => {
    this.#deps.setting.counters.reached("head");
    const refusal = this.#head.origin(request) ?? this.#deps.localClients?.check(request);
    if (refusal !== undefined) return this.#refuse({ request, reply }, refusal, "head");
    const origin = request.header("origin");
    if (origin !== undefined) reply.extraHeaders = toCorsHeaders(origin);
    try {
      this.#route(request, reply);
    } catch (cause) {
      this.#fail(reply, cause);
    }
  };

  #route(request: HttpRequest, reply: HttpReply): void {
    const { target } = request;
    const query = target.indexOf("?");
    const path = query === -1 ? target : target.slice(0, query);
    if (!this.#path.has(path)) return this.#routeOther(request, reply, path);
    if (isPreflight(request)) return reply.answer(toPreflight(request, this.#methods));
    const { method } = request;
    const isServed = method === "POST" || method === "GET" || method === "DELETE";
    const refusal = isServed ? this.#head.rest(request) : this.#deps.legacy === undefined ? modernOnly : badMethod;
    if (refusal !== undefined) return this.#refuse({ request, reply }, refusal, "head");
    if (!reply.isOver) this.#authenticate(request, reply);
  }

  /** Answers a request for another path than that of messages. */
  #routeOther(request: HttpRequest, reply: HttpReply, path: string): void {
    if (this.#deps.health?.(request, reply)) return;
    if (this.#metadataPaths.has(path)) return this.#answerMetadata(request, reply);
    this.#path.missed(request, path);
    this.#refuse({ request, reply }, notFound, "head");
  }

  #answerMetadata(request: HttpRequest, reply: HttpReply): void {
    const { method } = request;
    const { authenticator } = this.#deps;
    if (isPreflight(request)) reply.answer(toPreflight(request, "GET, HEAD"));
    else if (authenticator === undefined || (method !== "GET" && method !== "HEAD")) {
      this.#refuse({ request, reply }, metadataOnly, "head");
    } else reply.answer(authenticator.metadata());
  }

  /** Finds the caller and the view, and goes on: at once if no token is needed. */
  #authenticate(request: HttpRequest, reply: HttpReply): void {
    const view = this.#readView(request);
    if (view !== undefined && "error" in view) return this.#refuse({ request, reply }, view, "view");
    this.#deps.setting.counters.reached("token");
    const { authenticator, addressOf } = this.#deps;
    const address = addressOf === undefined ? request.address : addressOf(request);
    const enter = (found: Caller): void => {
      reply.owner = budgetKeyOf(found, address);
      if (reply.isOver) return;
      const caller = found.view === view ? found : withView(found, view);
      const exchange = { request, reply, caller, bytes: undefined };
      if (request.method === "POST") this.#post(exchange);
      else this.#serveSession(exchange);
    };
    if (authenticator === undefined) return enter(anonymous);
    authenticator
      .authenticate(request, reply, address)
      .then((found) => {
        if (!("status" in found)) return enter(found);
        this.#deps.setting.responder.refused({ request, reply }, { status: found.status, stage: "token" });
        reply.answer(found);
      })
      .catch((cause: unknown) => this.#fail(reply, cause));
  }

  #serveSession(exchange: HttpExchange): void {
    const { request } = exchange;
    const { legacy } = this.#deps;
    if (legacy === undefined || isModernHead(request)) return this.#refuse(exchange, modernOnly, "head");
    if (request.header("mcp-session-id") === undefined) return this.#refuse(exchange, noSession, "head");
    return request.method === "GET" ? legacy.get(exchange) : legacy.delete(exchange);
  }

  #post(exchange: HttpExchange): void {
    const { request, reply } = exchange;
    const { counters, budgets } = this.#deps.setting;
    counters.reached("body");
    const bytes = new HeldBytes(budgets.bodyBytes, reply.owner);
    bytes.hold();
    exchange.bytes = bytes;
    const done = (read: BodyRead): void => {
      try {
        this.#onBody(exchange, read);
      } catch (cause) {
        this.#fail(exchange.reply, cause);
      }
      // A request that waits or runs holds the bytes, too.
      bytes.release();
    };
    request.body(this.#maxBytes, done, bytes);
  }

  #onBody(exchange: HttpExchange, read: BodyRead): void {
    if (exchange.reply.isOver) return;
    if (typeof read === "string") return this.#refuseBody(exchange, read);
    const text = decodeBody(read);
    const { limits } = this.#deps.setting.runtime;
    this.#onFrame(exchange, text === undefined ? toFrameError("not-utf8") : parseFrame(text, limits));
  }

  #refuseBody(exchange: HttpExchange, why: Exclude<BodyRead, Uint8Array>): void {
    if (why === "gone") return this.#refuse(exchange, bodyLate, "body");
    if (why === "too-large")
      return this.#refuseFrame(exchange, toFrameError("too-large"), { status: 413, stage: "body" });
    const refused = exchange.bytes?.refused;
    const error = toRpcError(rpcCodes.busy, "Server busy: it holds too many bytes of request bodies", refused);
    this.#refuse(exchange, { status: refused?.scope === "principal" ? 429 : 503, error }, "body");
  }

  #onFrame(exchange: HttpExchange, frame: ParsedFrame): void {
    if (frame.kind === "blank") return this.#refuseFrame(exchange, toFrameError("not-json"));
    // Over HTTP every message gets a response, so this one can say what is wrong.
    if (frame.kind === "ignored") return this.#refuseFrame(exchange, toFrameError("bad-params"));
    if (frame.kind === "error") return this.#refuseFrame(exchange, frame);
    this.#deps.setting.counters.reached("envelope");
    if (frame.kind === "request") return this.#onRequest(exchange, frame);
    if (frame.kind === "notification") return this.#onNotification(exchange, frame);
    const { legacy } = this.#deps;
    if (legacy === undefined || isModernHead(exchange.request)) {
      return this.#refuse(exchange, unexpectedResponse, "session");
    }
    legacy.message(exchange, frame);
  }

  #onRequest(exchange: HttpExchange, frame: RequestFrame): void {
    const { request } = exchange;
    const era = eraOf(request, frame.params);
    const refusal = checkRequestHeaders(request, frame, era);
    if (refusal !== undefined) return this.#refuse(exchange, refusal, "envelope");
    const { legacy } = this.#deps;
    if (era === "modern") return this.#onModern(exchange, frame);
    // The handshake of a session names its client.
    if (legacy !== undefined) return legacy.request(exchange, frame);
    const requested = ownParam(frame.params, "protocolVersion") ?? headerVersionOf(request);
    const error = unsupportedVersion(typeof requested === "string" ? requested : "none");
    this.#refuse(exchange, { status: 400, id: frame.id, error }, "envelope");
  }

  #onModern(exchange: HttpExchange, frame: RequestFrame): void {
    const { setting, modern } = this.#deps;
    const caller = withClient(exchange.caller, envelopeClientOf(frame.params));
    const view = setting.runtime.viewFor(caller);
    const declared = view.kind === "error" ? noParams : headerParamsFor({ frame, caller, view });
    const refusal = checkParamHeaders(exchange.request, frame, declared);
    if (refusal !== undefined) return this.#refuse(exchange, refusal, "envelope");
    modern.request(exchange, { frame, caller, view });
  }

  #onNotification(exchange: HttpExchange, frame: NotificationFrame): void {
    const { request, reply } = exchange;
    const refusal = checkNotificationHeaders(request, frame);
    if (refusal !== undefined) return this.#refuse(exchange, refusal, "envelope");
    const { legacy } = this.#deps;
    // From 2026-07-28 on a client cancels by closing its connection, and there are no other notifications.
    if (legacy === undefined || eraOf(request, frame.params) === "modern") return reply.answer(accepted);
    legacy.message(exchange, frame);
  }

  #refuse(exchange: RefusedExchange, { error, ...refusal }: HttpRefusal, stage: RefusalStage): void {
    this.#deps.setting.responder.refuse(exchange, error, { ...refusal, stage });
  }

  #refuseFrame(
    exchange: HttpExchange,
    { id, code, message }: FrameError,
    { status, stage }: { readonly status: number; readonly stage: RefusalStage } = { status: 400, stage: "frame" },
  ): void {
    this.#refuse(exchange, { status, id, error: { kind: "error", code, message } }, stage);
  }

  /** Reports a fault, and answers with its correlation id. */
  #fail(reply: HttpReply, cause: unknown): void {
    const { runtime, responder } = this.#deps.setting;
    responder.answer(reply, toInternalAnswer(cause, "a request over HTTP", runtime.report), { status: 500 });
  }
}

import { anonymous, type Caller } from "../surface/caller.ts";
import { envelopeClientOf, unsupportedVersion, withClient } from "../mcp/envelope.ts";
import {
  parseFrame,
  toFrameError,
  type FrameError,
  type NotificationFrame,
  type ParsedFrame,
  type RequestFrame,
} from "../mcp/parse-frame.ts";
import { ownParam, rpcCodes, toRpcError } from "../mcp/protocol.ts";
import type { OverBudget } from "../spine/budget.ts";
import { internalError } from "../surface/fault.ts";
import type { Authenticator } from "./auth/create-authenticator.ts";
import { budgetKeyOf } from "./admission.ts";
import { HeldBytes, decodeBody } from "./body.ts";
import {
  toCorsHeaders,
  toPreflight,
  checkBodyHead,
  checkOrigin,
  checkRepeated,
  type HeadRules,
  HostList,
  type LocalClients,
  OriginList,
  type AllowedOrigins,
  ServedPath,
} from "./check-head.ts";
import {
  eraOf,
  headerParamsFor,
  headerVersionOf,
  isModernHead,
  judgeNotification,
  judgeParams,
  judgeRequest,
} from "./judge-envelope.ts";
import { refuseRequest, type HttpRefusal } from "./respond.ts";
import type { LegacyLeg } from "./legacy-leg.ts";
import type { ModernLeg } from "./modern-leg.ts";
import type { BodyRead, HttpExchange, HttpReply, HttpRequest, HttpServe } from "./message.ts";
import type { HttpSetting } from "./setting.ts";
import { createViewReader, withView } from "./read-view.ts";

/** Dependencies of {@link Front}. */
export interface FrontDeps {
  readonly setting: HttpSetting;
  /** The values of `Host` that are served: a name with any port, or with its own port. */
  readonly hosts: readonly string[];
  readonly origins: AllowedOrigins;
  /** Refuses clients on other machines. @default they are served */
  readonly localClients?: LocalClients | undefined;
  /** Reads the address of a client. @default the address of the connection */
  readonly addressOf?: ((request: HttpRequest) => string | undefined) | undefined;
  /** The path of messages. A slash at its end may be left out or added. */
  readonly path: string;
  /** Checks access tokens. @default every client is anonymous */
  readonly authenticator?: Authenticator | undefined;
  /** Answers requests for the health of the server; returns `false` for other requests. Called after the checks of Host and Origin. */
  readonly health?: ((request: HttpRequest, reply: HttpReply) => boolean) | undefined;
  readonly modern: Pick<ModernLeg, "request">;
  /** @default clients up to 2025-11-25 are refused */
  readonly legacy?: Pick<LegacyLeg, "request" | "message" | "get" | "delete"> | undefined;
}

const notFound = refuseRequest(404, "there is nothing under this path");
const modernOnly = refuseRequest(405, "messages are sent by POST", { allow: "POST" });
const noSession = refuseRequest(
  405,
  "messages are sent by POST; streams are those of a session, named by Mcp-Session-Id",
  {
    allow: "POST",
  },
);
const badMethod = refuseRequest(405, "this method is not served here", { allow: "POST, GET, DELETE" });
const metadataOnly = refuseRequest(405, "metadata is read by GET", { allow: "GET, HEAD" });
const modernResponse = refuseRequest(400, "nothing was asked that this could answer");
const gone = refuseRequest(408, "the body did not come in time");

/** A request whose body was read, and the bytes that it holds. */
type BodyExchange = HttpExchange & { readonly bytes: HeldBytes };

const accepted = Object.freeze({ status: 202 });

/** Returns whether a request is the preflight request of a page. */
function isPreflight(request: HttpRequest): boolean {
  return request.method === "OPTIONS" && request.header("origin") !== undefined;
}

/** Turns HTTP requests into messages, or refuses them in stages. Owns nothing that must be closed. */
export class Front {
  readonly #deps: FrontDeps;
  readonly #rules: HeadRules;
  readonly #methods: string;
  readonly #path: ServedPath;
  readonly #metadataPaths: ReadonlySet<string>;
  readonly #readView = createViewReader();

  constructor(deps: FrontDeps) {
    this.#deps = deps;
    this.#rules = {
      hosts: new HostList(deps.hosts),
      origins: new OriginList(deps.origins),
      maxBytes: deps.setting.runtime.limits.maxBytes,
    };
    this.#methods = deps.legacy === undefined ? "POST" : "GET, POST, DELETE";
    this.#path = new ServedPath(deps.path);
    this.#metadataPaths = new Set(deps.authenticator?.metadataPaths);
  }

  /** Takes one request, before anything of its body is read. */
  readonly serve: HttpServe = (request, reply) => {
    this.#deps.setting.counters.reached("head");
    const refusal = checkOrigin(request, this.#rules) ?? this.#deps.localClients?.check(request);
    if (refusal !== undefined) return this.#refuse(reply, refusal);
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
    const refusal = this.#checkMethod(request, reply);
    if (refusal !== undefined) return this.#refuse(reply, refusal);
    if (!reply.isOver) this.#authenticate(request, reply);
  }

  /** Answers a request for another path than that of messages. */
  #routeOther(request: HttpRequest, reply: HttpReply, path: string): void {
    if (this.#deps.health?.(request, reply)) return;
    if (this.#metadataPaths.has(path)) return this.#answerMetadata(request, reply);
    this.#path.missed(request, path);
    this.#refuse(reply, notFound);
  }

  #answerMetadata(request: HttpRequest, reply: HttpReply): void {
    const { method } = request;
    const { authenticator } = this.#deps;
    if (isPreflight(request)) reply.answer(toPreflight(request, "GET, HEAD"));
    else if (authenticator === undefined || (method !== "GET" && method !== "HEAD")) this.#refuse(reply, metadataOnly);
    else reply.answer(authenticator.metadata());
  }

  /** Checks the rest of the head. Answers preflight requests. */
  #checkMethod(request: HttpRequest, reply: HttpReply): HttpRefusal | undefined {
    const { method } = request;
    if (isPreflight(request)) {
      reply.answer(toPreflight(request, this.#methods));
      return undefined;
    }
    const served = method === "POST" || method === "GET" || method === "DELETE";
    if (!served) return this.#deps.legacy === undefined ? modernOnly : badMethod;
    return checkRepeated(request) ?? (method === "POST" ? checkBodyHead(request, this.#rules) : undefined);
  }

  /** Finds the caller and their view, and goes on, at once where no token is needed. */
  #authenticate(request: HttpRequest, reply: HttpReply): void {
    const view = this.#readView(request);
    if (view !== undefined && "error" in view) return this.#refuse(reply, view);
    this.#deps.setting.counters.reached("token");
    const { authenticator, addressOf } = this.#deps;
    const address = addressOf === undefined ? request.address : addressOf(request);
    const enter = (found: Caller): void => {
      reply.owner = budgetKeyOf(found, address);
      if (reply.isOver) return;
      const exchange = { request, reply, caller: found.view === view ? found : withView(found, view) };
      if (request.method === "POST") this.#post(exchange);
      else this.#serveSession(exchange);
    };
    if (authenticator === undefined) return enter(anonymous);
    authenticator
      .authenticate(request, reply, address)
      .then((found) => ("status" in found ? reply.answer(found) : enter(found)))
      .catch((cause: unknown) => this.#fail(reply, cause));
  }

  #serveSession(exchange: HttpExchange): void {
    const { request, reply } = exchange;
    const { legacy } = this.#deps;
    if (legacy === undefined || isModernHead(request)) return this.#refuse(reply, modernOnly);
    if (request.header("mcp-session-id") === undefined) return this.#refuse(reply, noSession);
    return request.method === "GET" ? legacy.get(exchange) : legacy.delete(exchange);
  }

  #post({ request, reply, caller }: HttpExchange): void {
    const { counters, budgets } = this.#deps.setting;
    counters.reached("body");
    const bytes = new HeldBytes(budgets.bodyBytes, reply.owner);
    bytes.hold();
    const done = (read: BodyRead): void => {
      try {
        this.#onBody({ request, reply, caller, bytes }, read);
      } catch (cause) {
        this.#fail(reply, cause);
      }
      // A request that waits or runs holds the bytes, too.
      bytes.release();
    };
    request.body(this.#rules.maxBytes, done, bytes);
  }

  #onBody(exchange: BodyExchange, read: BodyRead): void {
    const { reply, bytes } = exchange;
    if (reply.isOver) return;
    if (typeof read === "string") return this.#refuseBody(reply, read, bytes.refused);
    const text = decodeBody(read);
    const { limits } = this.#deps.setting.runtime;
    this.#onFrame(exchange, text === undefined ? toFrameError("not-utf8") : parseFrame(text, limits));
  }

  #refuseBody(reply: HttpReply, why: Exclude<BodyRead, Uint8Array>, refused: OverBudget | undefined): void {
    if (why === "gone") return this.#refuse(reply, gone);
    if (why === "too-large") return this.#refuseFrame(reply, toFrameError("too-large"), 413);
    const error = toRpcError(rpcCodes.busy, "Server busy: too many bytes of requests are held", refused);
    this.#refuse(reply, { status: refused?.scope === "principal" ? 429 : 503, error });
  }

  #onFrame(exchange: BodyExchange, frame: ParsedFrame): void {
    if (frame.kind === "blank") return this.#refuseFrame(exchange.reply, toFrameError("not-json"));
    // Over HTTP every message gets a response, so this one can say what is wrong.
    if (frame.kind === "ignored") return this.#refuseFrame(exchange.reply, toFrameError("bad-params"));
    if (frame.kind === "error") return this.#refuseFrame(exchange.reply, frame);
    this.#deps.setting.counters.reached("envelope");
    if (frame.kind === "request") return this.#onRequest(exchange, frame);
    if (frame.kind === "notification") return this.#onNotification(exchange, frame);
    const { legacy } = this.#deps;
    if (legacy === undefined || isModernHead(exchange.request)) return this.#refuse(exchange.reply, modernResponse);
    legacy.message({ ...exchange, frame });
  }

  #onRequest(exchange: BodyExchange, frame: RequestFrame): void {
    const { request, reply, caller, bytes } = exchange;
    const era = eraOf(request, frame.params);
    const refusal = judgeRequest(request, frame, era);
    if (refusal !== undefined) return this.#refuse(reply, refusal);
    const { legacy } = this.#deps;
    if (era === "modern") return this.#onModern(exchange, frame);
    // The client of a session was named in its handshake.
    if (legacy !== undefined) return legacy.request({ request, reply, caller, bytes, frame });
    const requested = ownParam(frame.params, "protocolVersion") ?? headerVersionOf(request);
    const error = unsupportedVersion(typeof requested === "string" ? requested : "none");
    this.#refuse(reply, { status: 400, id: frame.id, error });
  }

  #onModern({ request, reply, caller: sender, bytes }: BodyExchange, frame: RequestFrame): void {
    const { setting, modern } = this.#deps;
    const caller = withClient(sender, envelopeClientOf(frame.params));
    const view = setting.runtime.viewFor(caller);
    const find = (tool: string) => (view.kind === "error" ? undefined : headerParamsFor(view, tool, caller));
    const refusal = judgeParams(request, frame, find);
    if (refusal !== undefined) return this.#refuse(reply, refusal);
    modern.request({ request, reply, caller, bytes, frame, view });
  }

  #onNotification(exchange: BodyExchange, frame: NotificationFrame): void {
    const { request, reply } = exchange;
    const refusal = judgeNotification(request, frame);
    if (refusal !== undefined) return this.#refuse(reply, refusal);
    const { legacy } = this.#deps;
    // From 2026-07-28 on a client cancels by closing its connection, and there are no other notifications.
    if (legacy === undefined || eraOf(request, frame.params) === "modern") return reply.answer(accepted);
    legacy.message({ ...exchange, frame });
  }

  #refuse(reply: HttpReply, { error, ...refusal }: HttpRefusal): void {
    this.#deps.setting.responder.refuse(reply, error, refusal);
  }

  #refuseFrame(reply: HttpReply, { id, code, message }: FrameError, status = 400): void {
    this.#refuse(reply, { status, id, error: { kind: "error", code, message } });
  }

  /** Reports a fault, and answers with its correlation id. */
  #fail(reply: HttpReply, cause: unknown): void {
    const { correlationId } = internalError(cause, "a request over HTTP", this.#deps.setting.runtime.report);
    this.#refuse(reply, { status: 500, error: toRpcError(rpcCodes.internal, "Internal error", { correlationId }) });
  }
}

import type { JsonValue } from "../schema/json.ts";
import type { TraceContext } from "../surface/trace-context.ts";

/** The way by which clients reach the app. `test`: the test client. */
export type Transport = "stdio" | "http" | "sdk-v1" | "test";

/** The caller of a request, without grants and claims. */
export interface ObservedCaller {
  /** Unique only together with `issuer` and `clientId`. */
  readonly id: string;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly isAnonymous: boolean;
}

/** The origin of a request. */
export interface Origin {
  readonly transport: Transport;
  /** The protocol version, such as `2026-07-28`. Left out before a handshake, and over `sdk-v1`. */
  readonly protocol?: string;
  /** Identifies the session in these records. Not the value of `Mcp-Session-Id`, which gives access. */
  readonly session?: string;
  readonly caller: ObservedCaller;
  /** The name and version that the client program sent. Nothing proves them. */
  readonly client?: { readonly name: string; readonly version: string };
  /** The name of the view. */
  readonly view: string;
}

/** A tool, resource or prompt that exists, and that the caller may see. */
export interface ObservedOperation {
  readonly kind: "tool" | "resource" | "prompt";
  readonly id: string;
  /** The wire name of a tool or prompt. Resources have none: their URIs may hold arguments. */
  readonly name?: string;
  /** Whether it may change something. */
  readonly mutates: boolean;
}

/** The stage that refused a request before a handler ran. */
export type RefusalStage =
  /** `Host`, `Origin`, path, method or other headers. */
  | "head"
  | "token"
  /** The view is unknown, or denied to the caller. */
  | "view"
  /** The bytes of the body: too many, or too late. */
  | "body"
  /** Not a JSON-RPC message in UTF-8, or one over a bound. */
  | "frame"
  /** Handshake, protocol version, or headers that differ from the body. */
  | "envelope"
  /** The session is unknown, or the request is invalid in it. */
  | "session"
  /** Too much runs or waits, or the server closes. */
  | "busy"
  /** The method is unknown. */
  | "method"
  | "params"
  /** The operation is unknown, or hidden from the caller. */
  | "name"
  | "scope"
  | "rate"
  /** The user did not confirm the call, or could not be asked. */
  | "confirm"
  /** An observer's `before` refused the request. */
  | "record";

/** The outcome of a request or nested call. */
export type Outcome =
  | "ok"
  /** A JSON-RPC error, or a tool result that reports an error. */
  | "failed"
  /** No handler ran; see `refusedAt`. */
  | "refused"
  /** The result holds questions; the client sends the request again with the answers. */
  | "asked"
  /** The client cancelled it, or left. */
  | "cancelled"
  /** The server or the session closed. */
  | "closed";

/** The fields that the records of a request, a nested call and a question share. */
export interface Work extends Origin {
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Identifies the request, call or question. A start and its end have the same id. */
  readonly id: string;
  /** Left out if the request names no operation, or one that the caller may not see: names are the caller's words. */
  readonly operation?: ObservedOperation;
  /** The trace context of the request: that of its `_meta`, else that of the headers of its HTTP request. */
  readonly trace?: TraceContext;
  /** Bytes of the request as JSON. */
  readonly bytesIn?: number;
}

/** The fields of the end of a request or nested call. */
export interface Ended {
  /** Milliseconds since the start. */
  readonly ms: number;
  readonly outcome: Outcome;
  /** The code of a failure: of this package, or the author's own. */
  readonly code?: string;
  /** The code of a JSON-RPC error. */
  readonly rpcCode?: number;
  /** Identifies the fault in the log of `onFault`. */
  readonly correlationId?: string;
  /** With the outcome `refused`. */
  readonly refusedAt?: RefusalStage;
  /** Bytes of the result as JSON. */
  readonly bytesOut?: number;
  /** The structured result, redacted. Only for observers with `values`. */
  readonly result?: JsonValue;
}

/** The fields of the start of a request or nested call. */
export interface Begun {
  /** The arguments, redacted. Only for observers with `values`. */
  readonly arguments?: JsonValue;
}

/** The fields of all records of one request. */
interface RequestWork extends Work {
  /** The method; `unknown` for one that the protocol or the app does not have. */
  readonly method: string;
  /** The id of the JSON-RPC message. */
  readonly rpcId: string | number;
  /** The source of `trace`. Left out without one. */
  readonly traceFrom?: "meta" | "headers";
}

/** A request has arrived. */
export interface RequestStart extends RequestWork, Begun {
  readonly type: "request-start";
}

/** A request was answered, cancelled or dropped. Exactly one for each start. May follow the end of its session by a turn. */
export interface RequestEnd extends RequestWork, Ended {
  readonly type: "request-end";
  /** The id of its call in `app.calls`, if a tool was called. */
  readonly callId?: string;
}

/** The fields of all records of one nested call. */
interface CallWork extends Work {
  /** The id of the request or nested call that made it. `id` is that of `app.calls`. */
  readonly parent: string;
}

/** A tool has called another tool. */
export interface CallStart extends CallWork, Begun {
  readonly type: "call-start";
}

/** A nested call has ended. Exactly one for each start, and after the end of the request if the call goes on without it. */
export interface CallEnd extends CallWork, Ended {
  readonly type: "call-end";
}

/** A request was refused before it could start, for example without a valid token. Has neither start nor end. */
export interface Refused extends Partial<Origin> {
  readonly type: "refused";
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly transport: Transport;
  readonly stage: RefusalStage;
  /** The HTTP status. */
  readonly status?: number;
  readonly rpcCode?: number;
  /** The address of an HTTP client, as the limits count it. */
  readonly address?: string;
}

/** The fields of all records of one question to the client. */
interface QuestionWork extends Work {
  /** The id of the request or nested call that asks. */
  readonly parent: string;
  /** `elicit`: a form for the user. `sample`: a request to the client's model. `roots`: a request for its roots. */
  readonly kind: "elicit" | "sample" | "roots";
  /** Whether the user is asked to confirm a call. */
  readonly isConfirmation: boolean;
  /** Set if a person decides it on the live page, because the client cannot show it. The client is then not asked. */
  readonly decidedOn?: "page";
}

/** The client was asked, or a person on the live page. From 2026-07-28 on the request ends with a question to the client. */
export interface QuestionAsked extends QuestionWork {
  readonly type: "question-asked";
}

/** The question was answered, or not in time. From 2026-07-28 on a client answers by another request, whose id is `parent`. */
export interface QuestionAnswered extends QuestionWork {
  readonly type: "question-answered";
  /** The choice of the user, `accept` for an answer of another kind, or `failed` without an answer. */
  readonly answer: "accept" | "decline" | "cancel" | "failed";
}

/** The fields of all records of one session or stream. */
interface Connected extends Origin {
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Identifies the session or stream. */
  readonly id: string;
}

/** A client has connected: a handshake succeeded, or the first request from 2026-07-28 on came over stdio. */
export interface SessionStart extends Connected {
  readonly type: "session-start";
}

/** A session has ended. Exactly one for each start. */
export interface SessionEnd extends Connected {
  readonly type: "session-end";
  readonly ms: number;
  /** `client`: the client ended it. `idle`: it had no request for too long, or gave way to another. `closed`: the server closes. */
  readonly reason: "client" | "idle" | "closed";
}

/** A client over HTTP has opened a stream of notices: by GET, or by `subscriptions/listen`. */
export interface StreamStart extends Connected {
  readonly type: "stream-start";
}

/** A stream of notices has ended. Exactly one for each start. */
export interface StreamEnd extends Connected {
  readonly type: "stream-end";
  readonly ms: number;
}

/** The app has connected to its live surface. */
export interface LinkUp {
  readonly type: "link-up";
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly surface: string;
}

/** The connection to the live surface has ended, or could not be opened. */
export interface LinkDown {
  readonly type: "link-down";
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly surface: string;
  /** `closed`: this side closed it. `gone`: the live surface said goodbye. `lost`: it broke. `unreachable`: there was none. */
  readonly reason: "closed" | "gone" | "lost" | "unreachable";
}

/** Mounted tools have come or gone. */
export interface MountChange {
  readonly type: "mount-change";
  /** Unix time in milliseconds. */
  readonly at: number;
  /** The ids of the tools that came, 100 at most. */
  readonly added: readonly string[];
  /** The ids of the tools that went, 100 at most. */
  readonly removed: readonly string[];
  /** The number of all tools of the app. */
  readonly tools: number;
}

/** A record of what an app does. Frozen. */
export type Observation =
  | RequestStart
  | RequestEnd
  | CallStart
  | CallEnd
  | Refused
  | QuestionAsked
  | QuestionAnswered
  | SessionStart
  | SessionEnd
  | StreamStart
  | StreamEnd
  | LinkUp
  | LinkDown
  | MountChange;

/** The start of a request or nested call. */
export type WorkStart = RequestStart | CallStart;

/** The end of a request or nested call. */
export type WorkEnd = RequestEnd | CallEnd;

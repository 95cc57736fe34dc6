import type { CallContext } from "../call/call-context.ts";
import type { JsonObject } from "../schema/json.ts";
import type { ResolvedView } from "./resolved-view.ts";

/** `legacy`: up to 2025-11-25, with a handshake. `modern`: 2026-07-28, with an envelope on every request. */
export type Era = "legacy" | "modern";

/** The modern revisions that are served. */
export const modernVersions: readonly string[] = ["2026-07-28"];

/** Error codes of JSON-RPC 2.0 and of both eras of MCP. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The first of the codes that JSON-RPC leaves to servers: more is in flight than this one takes. */
  busy: -32000,
  /** A resource that does not exist, up to 2025-11-25; 2026-07-28 says invalid params. */
  legacyResourceNotFound: -32002,
  /** No session of this id, or none of this caller's; the code that the SDKs' servers use. */
  sessionNotFound: -32001,
  /** Nobody is known to ask: a token is missing, or no good. */
  unauthenticated: -32010,
  /** Who asks was not granted what this takes. */
  insufficientScope: -32011,
  /** A header says something else than the body. */
  headerMismatch: -32020,
  /** Serving this takes something of the client that it did not say it can do. */
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** An error in JSON-RPC's form. */
export interface RpcError {
  readonly kind: "error";
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  /** What the caller would have to be granted for an answer: everything that this takes. Only where that is what is missing. */
  readonly scopes?: readonly string[];
}

/** A result, already as JSON text, so that a large answer is written once and not again for each envelope. */
export interface RpcResult {
  readonly kind: "result";
  /** The members of the result object, without braces: `"tools":[…]`. */
  readonly body: string;
  /** The members of its `_meta`, without braces; empty where there are none. */
  readonly meta: string;
  /** Whether the modern era demands cache hints on it. */
  readonly cacheable: boolean;
  /** Whether it is by this that a client of the modern era learns everything that the server says of itself. */
  readonly introduces: boolean;
  /** Whether it asks the client something before there is an answer. Of the modern era only. */
  readonly asks?: true;
}

/** What a handler answers. */
export type RpcAnswer = RpcResult | RpcError;

/** What a handler knows of the request besides its params. */
export interface McpRequest {
  readonly era: Era;
  /** The version that the handshake agreed on. Left out for clients without one, and where another server greeted them. */
  readonly version?: string | undefined;
  /** The call under way; it knows its caller. */
  readonly call: CallContext;
  /** The view of the caller. */
  readonly view: ResolvedView;
  /** The frame as it came, to read arguments that a handler has changed. @default nothing has changed them */
  readonly text?: string | undefined;
  /** The log of the client. Left out for clients without a level of their own. */
  readonly log?: LogLevels | undefined;
}

/** The level of one client's log. */
export interface LogLevels {
  /** Answers `logging/setLevel`. */
  setLevel(params: JsonObject | undefined): RpcAnswer;
}

/** Makes an error answer. */
export function toRpcError(code: number, message: string, data?: unknown): RpcError {
  return data === undefined ? { kind: "error", code, message } : { kind: "error", code, message, data };
}

/** Makes the error for who was not granted what an operation takes: all of it is named. */
export function toScopeError(scopes: readonly string[]): RpcError {
  return { kind: "error", code: rpcCodes.insufficientScope, message: "Insufficient scope", data: { scopes }, scopes };
}

/** The error for who lacks something: what a consent could give them is named, and else it is as if there were nothing. */
export function toDeniedError(scopes: readonly string[] | undefined, unknown: RpcError): RpcError {
  return scopes === undefined ? unknown : toScopeError(scopes);
}

/** Makes a result answer. */
export function toRpcResult(
  body: string,
  more: Partial<Pick<RpcResult, "meta" | "cacheable" | "introduces" | "asks">> = {},
): RpcResult {
  const { meta = "", cacheable = false, introduces = false, asks } = more;
  return { kind: "result", body, meta, cacheable, introduces, ...(asks === undefined ? {} : { asks }) };
}

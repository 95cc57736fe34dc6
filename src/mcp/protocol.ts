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

/** The id of a JSON-RPC request: text or a safe integer, never null. */
export type RequestId = string | number;

const MAX_BYTES = 1024;
const utf8 = new TextEncoder();

/**
 * Whether a value can be the id of a request: a safe integer (others are rounded by `JSON.parse` and could not be
 * echoed) or a string of at most 1 KiB of UTF-8. The empty string is an id.
 */
export function isRequestId(value: unknown): value is RequestId {
  if (typeof value === "number") return Number.isSafeInteger(value);
  return typeof value === "string" && value.length <= MAX_BYTES && utf8Length(value) <= MAX_BYTES;
}

/** No UTF-16 unit takes more than three bytes, so short texts need no encoding; the result is then an upper bound. */
function utf8Length(text: string): number {
  return text.length * 3 <= MAX_BYTES ? text.length * 3 : utf8.encode(text).length;
}

/** An own property of params, or of what is in them; inherited names are nobody's arguments. */
export function ownParam(params: Readonly<Record<string, unknown>> | undefined, key: string): unknown {
  return params !== undefined && Object.hasOwn(params, key) ? params[key] : undefined;
}

/** The error for a request whose id belongs to a request that still runs. */
export const duplicateId: RpcError = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: a request with this id is still running",
);

/** The error for a request that has no room in its queue. */
export const busy: RpcError = toRpcError(rpcCodes.busy, "Server busy: too many requests are in flight");

/** The error for a request to a server that is closing. */
export const closing: RpcError = toRpcError(rpcCodes.busy, "Server busy: it is closing");

/** The error for a method that the app or the era does not have. */
export const unknownMethod: RpcError = toRpcError(rpcCodes.methodNotFound, "Method not found");

/** The error for a session that does not exist, or that belongs to another caller. */
export const sessionNotFound: RpcError = toRpcError(rpcCodes.sessionNotFound, "Session not found");

/** The result without members. */
export const emptyResult: RpcResult = toRpcResult("");

function toCode(era: Era): number {
  return era === "modern" ? rpcCodes.invalidParams : rpcCodes.legacyResourceNotFound;
}

/** The URI, for the answer's data, unless it is of a length that no resource's is. */
function shown(uri: string): { readonly uri?: string } {
  return uri.length <= 256 ? { uri } : {};
}

/** The answer for a URI that names nothing: unknown, not exposed and malformed alike. */
export function toNotFound(uri: string, era: Era): RpcError {
  const data = shown(uri);
  return toRpcError(toCode(era), "Resource not found", data.uri === undefined ? undefined : data);
}

/** The answer for a URI that fits an exposed template, and has nothing under it now. */
export function toAbsent(uri: string, era: Era): RpcError {
  return toRpcError(toCode(era), "There is nothing under this URI now", { code: "ABSENT", ...shown(uri) });
}

/** One escape of a JSON string; the first group holds a pair of surrogates, the second one that stands alone. */
const escape = /\\(?:(ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|(ud[89a-f][0-9a-f]{2})|.)/g;

/**
 * Replaces the escapes of lone surrogates in JSON text by that of U+FFFD. Half a character, as a text cut at a number of
 * UTF-16 units leaves it, is no Unicode text: strict parsers refuse the whole message that holds one. Escapes are
 * expected in lower case, as `JSON.stringify` writes them.
 */
export function toWellFormedJson(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(escape, (whole: string, _pair: unknown, lone: unknown) =>
    lone === undefined ? whole : "\\ufffd",
  );
}

/** Writes a value that has a JSON form as text that every parser of JSON accepts. */
export function writeJson(value: NonNullable<unknown>): string {
  return toWellFormedJson(JSON.stringify(value));
}

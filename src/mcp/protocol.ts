import type { CallContext } from "../call/call-context.ts";
import type { Failure } from "../call/observed-call.ts";
import type { RefusalStage } from "../observe/observation.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import type { ClientExtension } from "./extensions/extensions.ts";
import type { ResolvedView } from "./resolved-view.ts";
import type { ServerInfo } from "./servable-app.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";

/** `legacy`: up to 2025-11-25, with a handshake. `modern`: 2026-07-28, with an envelope on every request. */
export type Era = "legacy" | "modern";

/** The newest protocol version with a handshake. Clients of older versions do not know all members of results. */
export const newestLegacyVersion = "2025-11-25";

/** The modern revisions that are served. */
export const modernVersions: readonly string[] = ["2026-07-28"];

/** Error codes of JSON-RPC 2.0 and of both eras of MCP. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  busy: -32000,
  /** The code of the SDKs' servers. */
  sessionNotFound: -32001,
  /** Up to 2025-11-25; later versions use invalid params. */
  legacyResourceNotFound: -32002,
  unauthenticated: -32010,
  insufficientScope: -32011,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** A JSON-RPC error. */
export interface RpcError {
  readonly kind: "error";
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  /** All scopes that the request takes, if the caller lacks one of them. */
  readonly scopes?: readonly string[];
  /** The stage of the refusal, for records. @default the one that `code` stands for */
  readonly stage?: RefusalStage;
}

/** A result as JSON text, so that a large one is written once and not again for each envelope. */
export interface RpcResult {
  readonly kind: "result";
  /** The members of the result object, without braces: `"tools":[…]`. */
  readonly body: string;
  /** The members of `_meta`, without braces. */
  readonly meta: string;
  /** Whether the modern era demands cache hints. */
  readonly cacheable: boolean;
  /** Whether the modern era tells everything about the server with it. */
  readonly introduces: boolean;
  /** Set if the result holds questions instead of an answer, which only clients from 2026-07-28 on get. */
  readonly asks?: true;
  /** The failure that a tool result reports, for records. */
  readonly failure?: Failure | undefined;
}

/** The answer of a handler. */
export type RpcAnswer = RpcResult | RpcError;

/** A request without its params. */
export interface McpRequest {
  readonly era: Era;
  /** Protocol version of the handshake; `undefined` for clients without one, and if another server answered it. */
  readonly version?: string | undefined;
  readonly call: CallContext;
  readonly view: ResolvedView;
  /** The frame as it came, to read arguments that a handler has changed. @default nothing has changed them */
  readonly text?: string | undefined;
  /** The log of the client; `undefined` for clients without a level. */
  readonly log?: LogLevels | undefined;
  /** The extensions that the client can use. @default none */
  readonly extensions?: ReadonlySet<ClientExtension> | undefined;
}

/** The level of one client's log. */
export interface LogLevels {
  /** Answers `logging/setLevel`. */
  setLevel(params: JsonObject | undefined): RpcAnswer;
}

/** Creates an error. */
export function toRpcError(code: number, message: string, data?: unknown): RpcError {
  return data === undefined ? { kind: "error", code, message } : { kind: "error", code, message, data };
}

/** Creates the error for a name or URI that does not exist for the caller. */
export function toUnknownError(message: string): RpcError {
  return { ...toRpcError(rpcCodes.invalidParams, message), stage: "name" };
}

/** Creates the error of a caller who lacks scopes. @param scopes - all that the operation takes. */
export function toScopeError(scopes: readonly string[]): RpcError {
  return { kind: "error", code: rpcCodes.insufficientScope, message: "Insufficient scope", data: { scopes }, scopes };
}

/** Creates the error of a denied caller: the scopes that a consent could give, or else the error of an unknown entry. */
export function toDeniedError(scopes: readonly string[] | undefined, unknown: RpcError): RpcError {
  return scopes === undefined ? unknown : toScopeError(scopes);
}

/** Creates a result. */
export function toRpcResult(
  body: string,
  more: Partial<Pick<RpcResult, "meta" | "cacheable" | "introduces" | "asks" | "failure">> = {},
): RpcResult {
  const { meta = "", cacheable = false, introduces = false, asks, failure } = more;
  return { kind: "result", body, meta, cacheable, introduces, failure, ...(asks === undefined ? {} : { asks }) };
}

/** Reports a fault, and returns the answer to its request. The correlation id names the entry in the author's log. */
export function toInternalAnswer(cause: unknown, where: string, report: FaultReporter): RpcError {
  const { correlationId } = internalError(cause, where, report);
  return toRpcError(rpcCodes.internal, "Internal error", { correlationId });
}

/** The id of a JSON-RPC request, never `null`. */
export type RequestId = string | number;

const MAX_BYTES = 1024;

/** Tells whether a value is an id that can be echoed: a safe integer, since `JSON.parse` rounds others, or at most 1 KiB of text. */
export function isRequestId(value: unknown): value is RequestId {
  if (typeof value === "number") return Number.isSafeInteger(value);
  return typeof value === "string" && value.length <= MAX_BYTES && bytesOver(value, MAX_BYTES) === undefined;
}

/** Returns the bytes of a text in UTF-8 if they are more than `limit`. */
export function bytesOver(text: string, limit: number): number | undefined {
  // A UTF-16 unit is at most 3 bytes.
  if (text.length * 3 <= limit) return undefined;
  const bytes = Buffer.byteLength(text);
  return bytes > limit ? bytes : undefined;
}

/** Returns an own property of params; inherited ones are not arguments. */
export function ownParam(params: Readonly<Record<string, unknown>> | undefined, key: string): unknown {
  return params !== undefined && Object.hasOwn(params, key) ? params[key] : undefined;
}

/** Returns the `_meta` of params if it is an object. */
export function metaOf(params: JsonObject | undefined): JsonObject | undefined {
  const meta = ownParam(params, "_meta");
  return isJsonObject(meta) ? meta : undefined;
}

const badMeta = toRpcError(rpcCodes.invalidParams, 'Invalid params: "_meta" must be an object');
const badToken = toRpcError(
  rpcCodes.invalidParams,
  'Invalid params: "progressToken" must be a string of at most 1 KiB or a safe integer',
);

/** Returns the progress token of a request, or the error of a bad one. */
export function progressTokenOf(params: JsonObject | undefined): string | number | undefined | RpcError {
  if (params === undefined || !Object.hasOwn(params, "_meta")) return undefined;
  const meta = params["_meta"];
  if (!isJsonObject(meta)) return badMeta;
  const token = ownParam(meta, "progressToken");
  // Every report repeats it, so it has the bound of an id.
  if (token === undefined || isRequestId(token)) return token;
  return badToken;
}

/** The error for a request whose id belongs to a request that still runs. */
export const duplicateId: RpcError = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: a request with this id is still running",
);

/** The error for a request before the handshake, or without the envelope. */
export const notInitialised: RpcError = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: this connection is not initialised; send initialize, or the modern envelope on every request",
);

/** The error for a second handshake. */
export const alreadyInitialised: RpcError = toRpcError(
  rpcCodes.invalidRequest,
  "Invalid request: this connection is initialised already",
);

/** The error for a request that has no room in its queue. */
export const busy: RpcError = toRpcError(rpcCodes.busy, "Server busy: too many requests are in flight");

/** The error for a request that an observer's `before` does not admit. */
export const unrecorded: RpcError = {
  ...toRpcError(rpcCodes.internal, "Internal error: the request cannot be recorded, so it has not run"),
  stage: "record",
};

/** The error for a request to a server that is closing. */
export const closing: RpcError = toRpcError(rpcCodes.busy, "Server busy: it is closing");

/** The error for a method that the app or the era does not have. */
export const unknownMethod: RpcError = toRpcError(rpcCodes.methodNotFound, "Method not found");

/** The error for a request whose resource is not named. */
export const badUri: RpcError = toRpcError(rpcCodes.invalidParams, 'Invalid params: "uri" must be a string');

/** The error for a session that does not exist, or that belongs to another caller. */
export const sessionNotFound: RpcError = toRpcError(rpcCodes.sessionNotFound, "Session not found");

/** The result without members. */
export const emptyResult: RpcResult = toRpcResult("");

function toCode(era: Era): number {
  return era === "modern" ? rpcCodes.invalidParams : rpcCodes.legacyResourceNotFound;
}

/** The longest URI that an error quotes. No resource has a longer one. */
const maxQuotedUri = 256;

/** Creates the error for a URI of no resource: unknown, hidden and malformed alike. */
export function toNotFound(uri: string, era: Era): RpcError {
  const error = toRpcError(toCode(era), "Resource not found", uri.length <= maxQuotedUri ? { uri } : undefined);
  return { ...error, stage: "name" };
}

/** Creates the error for a URI that fits an exposed template, under which there is nothing now. */
export function toAbsent(uri: string, era: Era): RpcError {
  const data = { code: "ABSENT", uri: uri.length <= maxQuotedUri ? uri : undefined };
  return toRpcError(toCode(era), "There is nothing under this URI now", data);
}

/** One escape of a JSON string; the first group holds a pair of surrogates, the second one that stands alone. */
const escape = /\\(?:(ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|(ud[89a-f][0-9a-f]{2})|.)/g;

/**
 * Replaces lone surrogates in JSON text by U+FFFD: strict parsers refuse a message with half a character. Escapes must be in lower
 * case, as `JSON.stringify` writes them.
 */
export function toWellFormedJson(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(escape, (whole: string, _pair: unknown, lone: unknown) =>
    lone === undefined ? whole : "\\ufffd",
  );
}

/** Writes JSON that every parser accepts. */
export function writeJson(value: NonNullable<unknown>): string {
  return toWellFormedJson(JSON.stringify(value));
}

/** Writes an answer as the text of one JSON-RPC frame. */
export type AnswerRenderer = (id: RequestId | null, answer: RpcAnswer, era: Era) => string;

function member(body: string): string {
  return body === "" ? "" : `,${body}`;
}

/**
 * Creates the renderer of a server. The modern era's stamps (`resultType`, who answers, cache hints) are written once;
 * each answer is spliced between them.
 */
export function createAnswerRenderer(info: ServerInfo): AnswerRenderer {
  const all = `"io.modelcontextprotocol/serverInfo":${writeJson(info)}`;
  // Icons may be many times larger than an answer, so only the handshake has them.
  const { name, version, title } = info;
  const short = `"io.modelcontextprotocol/serverInfo":${writeJson({ name, version, title })}`;
  // Values change under a live surface: a client must ask again, and must not share what it was told.
  const cacheHints = `,"ttlMs":0,"cacheScope":"private"`;
  return (id, answer, era) => {
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
    if (answer.kind === "error") {
      const { code, message, data } = answer;
      return `${head}"error":${writeJson({ code, message, data })}}`;
    }
    const { body, meta, cacheable, introduces, asks } = answer;
    if (era === "legacy") {
      const legacyMeta = meta === "" ? "" : `"_meta":{${meta}}`;
      return `${head}"result":{${[body, legacyMeta].filter((part) => part !== "").join(",")}}}`;
    }
    const type = asks === undefined ? "complete" : "input_required";
    const stamps = `"resultType":"${type}"${cacheable ? cacheHints : ""},"_meta":{${introduces ? all : short}${member(meta)}}`;
    return `${head}"result":{${body === "" ? "" : `${body},`}${stamps}}}`;
  };
}

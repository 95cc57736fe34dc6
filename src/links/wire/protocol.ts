import { Refusal, SurfaceError, type Issue, type SurfaceErrorCode } from "../../errors.ts";
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { createIssue, maxIssues } from "../../schema/render-issues.ts";
import type { Kind } from "../../surface/member.ts";
import { RelayedError, isRelayed } from "../../surface/relayed.ts";

/** The version of the protocol, the only one so far. */
export const protocolVersion = 1;

const methodNames = {
  hello: "surface/hello",
  describe: "surface/describe",
  ask: "surface/ask",
  follow: "surface/follow",
  item: "surface/item",
  credit: "surface/credit",
  progress: "surface/progress",
  ping: "surface/ping",
  goodbye: "surface/goodbye",
} as const;

/** The JSON-RPC methods. `$/cancelRequest` of JSON-RPC cancels a request. */
export const methods: Readonly<typeof methodNames> = Object.freeze(methodNames);

/** Items of an `open` that may be under way: a client reads a stream ahead. */
export const streamWindow = 32;

/** Items of any other subscription that may be under way: its newest value alone matters. */
export const newestWindow = 1;

/** Most credit that a server keeps for a stream. */
export const maxCredit = 1024;

/** Most requests with one answer that a server runs for one peer. */
export const maxAsks = 1024;

/** Most streams of one peer. They do not count against {@link maxAsks}. */
export const maxStreams = 4096;

/** Milliseconds that both sides wait for running requests after a goodbye. */
export const goodbyeMs = 5000;

/** Milliseconds until a peer must have said hello, or answered it. */
export const defaultHandshakeMs = 5000;

/** Milliseconds of silence after which a peer is asked for a sign of life. */
export const defaultHeartbeatMs = 5000;

/** The shapes of the schemas of a member, by part: the content of its digest. */
export interface MemberShape {
  readonly kind: Kind;
  readonly parts: Readonly<Record<string, JsonSchema>>;
}

/** A value on the wire: `{ value }`, or `{}` for undefined. */
export type Part = JsonObject;

/** The error of a JSON-RPC response. */
export class WireError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    this.code = code;
    this.message = message;
    this.data = data;
  }
}

/** JSON-RPC code of a failed request. `data` says what failed. */
const failed = -32000;

/** The answer to parameters that do not fit the method. */
export const invalidParams: WireError = new WireError(-32602, "the parameters are not those of the method");

/** The answer to an unknown method. */
export const noSuchMethod: WireError = new WireError(-32601, "there is no such method");

/** The answer to a request that was not read, because its receiver has said goodbye. */
export const notTaken: WireError = new WireError(-32001, "goodbye was said");

/** Errors of a live surface about a surface that it uses itself. The connection that carries them works. */
const relayed: ReadonlyMap<unknown, string> = new Map<SurfaceErrorCode, string>([
  ["UNAVAILABLE", "the surface that this comes from cannot be reached"],
  ["OUTCOME_UNKNOWN", "the call may have taken effect"],
  ["CONTRACT_MISMATCH", "the surface that this comes from has another version"],
]);

/** The other codes that cross the wire, with the text of the reader: a far side cannot choose the text of an error. */
const crossing: ReadonlyMap<unknown, string> = new Map<SurfaceErrorCode, string>([
  ["UNKNOWN_MEMBER", "the live surface has no such member"],
  ["WRONG_KIND", "the member is of another kind"],
  ["SCHEMA_UNSUPPORTED", "a schema of the member has no JSON form"],
  ["VALIDATION_ERROR", "the input does not fit"],
  ["INVALID_OUTPUT", "the answer did not pass its own schema and was withheld"],
  ["UNSERIALISABLE", "the answer has no JSON form"],
  ["NOT_FOUND", "there is no such thing"],
  ["ABSENT", "there is nothing yet"],
  ["TIMEOUT", "the deadline passed"],
  ["ABORTED", "the use was cancelled"],
  ["OVERFLOW", "too much is under way"],
  ["FRAME_TOO_LARGE", "the answer is too large for one message"],
  ["PROTOCOL_MISMATCH", "the far side speaks another protocol"],
  ["DROPPED", "it was dropped"],
  ["CLOSED", "the application behind this is closing"],
  ["INTERNAL", "an internal error occurred"],
]);

const maxIdLength = 64;

/** Returns whether an error crosses the wire with its code. Its text never does. */
export function isCrossing(cause: SurfaceError): boolean {
  const { code, correlationId } = cause;
  if (isRelayed(cause)) return crossing.has(code) || relayed.has(code);
  // An internal error without an id has not been masked.
  return code === "INTERNAL" ? correlationId !== undefined : crossing.has(code);
}

/** Writes an error that {@link isCrossing}. */
export function toErrorResponse(cause: SurfaceError): WireError {
  const { code, issues, correlationId } = cause;
  return new WireError(failed, code, {
    kind: "surface",
    code,
    ...(issues.length === 0
      ? {}
      : { issues: issues.slice(0, maxIssues).map(({ path, message }) => ({ path, message })) }),
    ...(correlationId === undefined ? {} : { correlationId }),
  });
}

/** Writes the refusal of a handler. @param details - in their wire form. */
export function toRefusalResponse(refusal: Refusal, details: JsonValue | undefined): WireError {
  return new WireError(failed, "refused", {
    kind: "refusal",
    code: refusal.code,
    message: refusal.message,
    ...(details === undefined ? {} : { details }),
  });
}

/** Creates the answer to a request that is refused before anything runs. */
export function createRejection(code: "PROTOCOL_MISMATCH" | "UNKNOWN_MEMBER" | "OVERFLOW"): WireError {
  return toErrorResponse(new SurfaceError(code, "Cannot serve the request: it is refused"));
}

function readIssues(given: unknown): readonly Issue[] {
  if (!Array.isArray(given)) return [];
  return given
    .slice(0, maxIssues)
    .filter(isJsonObject)
    .map(({ path, message }) => {
      const text = typeof message === "string" ? message : "";
      return createIssue(typeof path === "string" && path !== "" ? [path] : [], text);
    });
}

function readSurfaceError(data: JsonObject, what: string): SurfaceError {
  const { code, correlationId } = data;
  const problem = crossing.get(code) ?? relayed.get(code);
  const id = typeof correlationId === "string" && correlationId.length <= maxIdLength ? correlationId : undefined;
  if (problem === undefined)
    return new SurfaceError("INTERNAL", `Cannot use ${what}: the far side sent an unknown error`);
  const Kind = relayed.has(code) ? RelayedError : SurfaceError;
  // A key of one of the two maps.
  return new Kind(code as SurfaceErrorCode, `Cannot use ${what}: ${problem}`, {
    issues: readIssues(data["issues"]),
    ...(id === undefined ? {} : { correlationId: id }),
  });
}

/** Reads the details of a refusal. Returns `undefined` for details that do not fit. */
export type ReadDetails = (code: string, details: JsonValue) => unknown;

function readRefusal(data: JsonObject, readDetails: ReadDetails): Refusal | undefined {
  const { code, message, details } = data;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return new Refusal(code, message, details === undefined ? undefined : readDetails(code, details));
}

/**
 * Reads the error of a response. Returns a refusal, or an error with one of the codes that cross the wire, for any input.
 *
 * @param what - names the operation in messages.
 */
export function readErrorResponse(error: WireError, what: string, readDetails: ReadDetails): SurfaceError | Refusal {
  const { data } = error;
  if (isJsonObject(data)) {
    const refusal = data["kind"] === "refusal" ? readRefusal(data, readDetails) : undefined;
    return refusal ?? readSurfaceError(data, what);
  }
  const message = `Cannot use ${what}: the far side does not understand the request`;
  return new SurfaceError("PROTOCOL_MISMATCH", message, { cause: error });
}

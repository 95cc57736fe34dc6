import { Refusal, SurfaceError, type Issue, type SurfaceErrorCode } from "../../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../schema/json.ts";
import { createIssue, maxIssues } from "../../schema/render-issues.ts";
import { RelayedError, isRelayed } from "../../surface/relayed.ts";
import { errorCodes, RpcError } from "./protocol.ts";

/** What a live surface may say of one that it is a client of itself. Its own connection has not failed by that. */
const relayed: ReadonlyMap<unknown, string> = new Map<SurfaceErrorCode, string>([
  ["UNAVAILABLE", "what this comes from cannot be reached"],
  ["OUTCOME_UNKNOWN", "whether it took effect is unknown"],
  ["CONTRACT_MISMATCH", "what this comes from is of another version"],
]);

/** The codes that cross, in words of the reader's own: a far side is not to put any into its mouth. */
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

/** Whether an error may cross as it is, its words left behind. */
export function isCrossing(cause: SurfaceError): boolean {
  const { code, correlationId } = cause;
  if (isRelayed(cause)) return crossing.has(code) || relayed.has(code);
  // Without an id an internal error was masked by nobody.
  return code === "INTERNAL" ? correlationId !== undefined : crossing.has(code);
}

/** The answer for an error that may cross. */
export function toErrorAnswer(cause: SurfaceError): RpcError {
  const { code, issues, correlationId } = cause;
  return new RpcError(errorCodes.failed, code, {
    kind: "surface",
    code,
    ...(issues.length === 0
      ? {}
      : { issues: issues.slice(0, maxIssues).map(({ path, message }) => ({ path, message })) }),
    ...(correlationId === undefined ? {} : { correlationId }),
  });
}

/** The answer for a handler's "no"; its details in their wire form. */
export function toRefusalAnswer(refusal: Refusal, details: JsonValue | undefined): RpcError {
  return new RpcError(errorCodes.failed, "refused", {
    kind: "refusal",
    code: refusal.code,
    message: refusal.message,
    ...(details === undefined ? {} : { details }),
  });
}

/** The parameters do not fit the method. */
export const invalid: RpcError = new RpcError(errorCodes.invalidParams, "the parameters are not those of the method");
/** There is no such method. */
export const unknown: RpcError = new RpcError(errorCodes.methodNotFound, "there is no such method");
/** Nothing new is taken. */
export const untaken: RpcError = new RpcError(errorCodes.notTaken, "goodbye was said");

/** Creates the error of a request that is refused before anything runs. */
export function refuse(code: "PROTOCOL_MISMATCH" | "UNKNOWN_MEMBER" | "OVERFLOW"): RpcError {
  return toErrorAnswer(new SurfaceError(code, "Serving a request: it is refused"));
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
  const words = crossing.get(code) ?? relayed.get(code);
  const id = typeof correlationId === "string" && correlationId.length <= maxIdLength ? correlationId : undefined;
  if (words === undefined) return new SurfaceError("INTERNAL", `Using ${what}: an error of an unknown kind occurred`);
  const Kind = relayed.has(code) ? RelayedError : SurfaceError;
  // It is among the codes that cross.
  return new Kind(code as SurfaceErrorCode, `Using ${what}: ${words}`, {
    issues: readIssues(data["issues"]),
    ...(id === undefined ? {} : { correlationId: id }),
  });
}

/** How the details of a refusal are read: what does not fit is left out. */
export type ReadDetails = (code: string, details: JsonValue) => unknown;

function readRefusal(data: JsonObject, readDetails: ReadDetails): Refusal | undefined {
  const { code, message, details } = data;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return new Refusal(code, message, details === undefined ? undefined : readDetails(code, details));
}

/**
 * What a far side answered instead of a value, as an error of this side. Whatever it sends, this is a refusal, or an
 * error with one of the codes that cross.
 *
 * @param what - names the use in messages.
 */
export function readErrorAnswer(error: RpcError, what: string, readDetails: ReadDetails): SurfaceError | Refusal {
  const { data } = error;
  if (isJsonObject(data)) {
    const refusal = data["kind"] === "refusal" ? readRefusal(data, readDetails) : undefined;
    return refusal ?? readSurfaceError(data, what);
  }
  return new SurfaceError("PROTOCOL_MISMATCH", `Using ${what}: the far side does not understand the request`, {
    cause: error,
  });
}

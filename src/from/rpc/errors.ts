import { createInvalidInput } from "../../catalog/own-refusals.ts";
import { Refusal, type Issue } from "../../errors.ts";
import { isObject } from "../../options/is-object.ts";
import { createIssue, maxIssues } from "../../schema/render-issues.ts";
import { rewordForWire } from "../../schema/validate.ts";

/** An error of a router, with a code. */
export interface RouterError {
  readonly code: string;
  readonly message: string;
  /** The error behind it, whose text is not meant for callers. */
  readonly cause: unknown;
  /** The issues of the router's own parsers. */
  readonly issues?: unknown;
}

/**
 * The codes of errors that a caller may see, each with the message of an error that has none itself. All others are masked.
 */
const rpcCodes: Readonly<Record<string, string>> = Object.freeze({
  BAD_REQUEST: "the request is not valid",
  PARSE_ERROR: "the request is not valid",
  UNAUTHORIZED: "the caller is not signed in",
  PAYMENT_REQUIRED: "a payment is required",
  FORBIDDEN: "the caller has no right to this",
  NOT_FOUND: "it does not exist",
  METHOD_NOT_SUPPORTED: "this is not supported",
  NOT_ACCEPTABLE: "this is not supported",
  TIMEOUT: "it took too long",
  CONFLICT: "it conflicts with the current state",
  PRECONDITION_FAILED: "a precondition is not met",
  PRECONDITION_REQUIRED: "a precondition is required",
  PAYLOAD_TOO_LARGE: "the input is too large",
  UNSUPPORTED_MEDIA_TYPE: "this type of input is not supported",
  UNPROCESSABLE_CONTENT: "the input cannot be processed",
  TOO_MANY_REQUESTS: "there were too many requests: try again later",
  CLIENT_CLOSED_REQUEST: "the call was cancelled",
  NOT_IMPLEMENTED: "this is not implemented",
  BAD_GATEWAY: "a service behind this one failed",
  SERVICE_UNAVAILABLE: "the service is unavailable: try again later",
  GATEWAY_TIMEOUT: "a service behind this one took too long",
});

function segmentOf(segment: unknown): PropertyKey {
  if (isObject(segment)) return segmentOf(Reflect.get(segment, "key"));
  return typeof segment === "number" || typeof segment === "symbol" ? segment : String(segment);
}

function toIssue(issue: unknown, root: string): Issue | undefined {
  if (!isObject(issue)) return undefined;
  const path: unknown = Reflect.get(issue, "path");
  const segments = Array.isArray(path) ? path.map(segmentOf) : [];
  const message = rewordForWire(String(Reflect.get(issue, "message")));
  return createIssue(root === "" ? segments : [root, ...segments], message);
}

/**
 * Returns the refusal for an error of a router; `undefined` for one to mask. A message that comes from another error is replaced: it is
 * the text of a thrown exception.
 *
 * @param root - the name of the input itself in issues.
 */
export function toRpcRefusal({ code, message, cause, issues }: RouterError, root: string): Refusal | undefined {
  const isDerived = message === code || (isObject(cause) && Reflect.get(cause, "message") === message);
  if (code === "BAD_REQUEST" && isDerived && Array.isArray(issues) && issues.length > 0) {
    const read = issues.slice(0, maxIssues).map((issue) => toIssue(issue, root));
    return createInvalidInput(read.filter((issue) => issue !== undefined));
  }
  const sentence = Object.hasOwn(rpcCodes, code) ? rpcCodes[code] : undefined;
  return sentence === undefined ? undefined : new Refusal(code, isDerived ? sentence : message);
}

import { Refusal, SurfaceError, type Issue, type SurfaceErrorCode } from "../errors.ts";
import { clipText } from "../schema/visible-text.ts";
import type { JsonValue } from "../schema/json.ts";
import { createIssue, maxIssues } from "../schema/render-issues.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import { internalError, maskedMessages, asPackageError, translateFault, type FaultReporter } from "../surface/fault.ts";
import { createErrorResult, type ErrorResult } from "../catalog/outcome.ts";
import { ownFactsOf, unreachedFault } from "../catalog/own-refusals.ts";

const maxCodeBytes = 64;
const maxMessageBytes = 1920;
const maxDetailsLength = 16_384;

/** The place where an error was thrown. */
export interface ThrownAt {
  /** Named in the author's log. */
  readonly where: string;
  readonly report: FaultReporter;
  /** The path of the validated value within the arguments. Left out: a `VALIDATION_ERROR` is not about the arguments. */
  readonly argumentsRoot?: string;
  /**
   * The possible changes by then: `"call"` of one member, sent once or not at all; `"steps"` of an author's handler, which may have
   * run in part. @default none
   */
  readonly changes?: "call" | "steps";
  /** Whether the call ended while it waited for a connection. @default false */
  readonly isUnsent?: boolean;
  /** The deadline that passed, as Unix time in milliseconds. @default now */
  readonly deadline?: number | undefined;
}

const unknownOutcome = "whether the call took effect is unknown: read the state before you try again";

type Sentences = Partial<Record<SurfaceErrorCode, string>>;

/**
 * The messages for callers, by the code of an error. Its own message may name a member that the caller cannot see. An unlisted code
 * is masked as `INTERNAL`.
 */
const sentences: Sentences = {
  ...maskedMessages,
  DROPPED:
    "the part of the application that this belongs to was dropped and will not answer; the other parts still work",
  OUTCOME_UNKNOWN: `the connection to the application behind this server was lost, and ${unknownOutcome}`,
};

/** The same for codes after which a retry is safe. */
const retrySentences: Sentences = {
  // A read may have been sent more than once.
  UNAVAILABLE:
    "the application behind this server cannot be reached right now; this server is still running: try again shortly",
  DISCONNECTED:
    "the connection to the application behind this server was lost before the answer; this server is still running: try again shortly",
  OVERFLOW: "too many operations are running and this one was not started: try again shortly",
};

/** The same for a call that may change something, and was not sent. */
const unsentSentences: Sentences = {
  UNAVAILABLE:
    "the application behind this server cannot be reached right now and nothing was sent; this server is still running: try again shortly",
  TIMEOUT:
    "the deadline passed before the application behind this server could be reached, and nothing was sent: try again shortly",
};

/** The same for a call that may have changed something. */
const unsafeSentences: Sentences = {
  TIMEOUT: `the deadline passed, and ${unknownOutcome}`,
  UNAVAILABLE: `the application behind this server cannot be reached right now, and ${unknownOutcome}`,
  DISCONNECTED: `the connection to the application behind this server was lost, and ${unknownOutcome}`,
  OVERFLOW: `too many operations are running, and ${unknownOutcome}`,
  DROPPED: `a part of the application that this needs was dropped, and ${unknownOutcome}`,
  CLOSED: `the application behind this is closing, and ${unknownOutcome}`,
  ABORTED: `the call was cancelled, and ${unknownOutcome}`,
};

/** The same for faults. The message also has the id under which the fault is logged. */
const faultSentences: Sentences = {
  INTERNAL: "an internal error occurred",
  INVALID_OUTPUT: "the answer did not match its own schema and was withheld",
  UNSERIALISABLE: "the answer could not be written as JSON and was withheld",
  CONTRACT_MISMATCH: "the application behind this server has another version, in which this operation is different",
  PROTOCOL_MISMATCH: "the application behind this server has another version, which this server does not support",
  FRAME_TOO_LARGE: "the message to the application is larger than allowed",
};

/** The faults of an answer: the call has run. */
const answered: ReadonlySet<SurfaceErrorCode> = new Set(["INVALID_OUTPUT", "UNSERIALISABLE"]);
const unsafeFault = "the call may have taken effect: read the state before you try again";

/** The form of the ids of `internalError()`. An error from another process may have any text there. */
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Converts a thrown value to the refusal of a call. Never throws. The result is, in this order:
 * - the bounded text of a `Refusal`, also of one that `toRefusal` returns;
 * - the issues of invalid arguments;
 * - one of our codes with a fixed sentence;
 * - `INTERNAL` with a correlation id.
 */
export function toErrorResult(cause: unknown, at: ThrownAt): ErrorResult {
  try {
    const error = asPackageError(cause) ?? translateFault(cause, at.where, at.report);
    const fault = error instanceof Refusal ? unreachedFault(error) : undefined;
    if (fault !== undefined) return fromSurfaceError(fault, at);
    if (error instanceof Refusal) return fromRefusal(error, at);
    if (error !== undefined) return toUnansweredRefusal(error, at) ?? fromSurfaceError(error, at);
  } catch {
    // A getter or trap of the thrown value has thrown.
  }
  return faultRefused("INTERNAL", logged(cause, at), at);
}

/** Returns the deadline as details of a `TIMEOUT`. */
function toTimeoutDetails(code: SurfaceErrorCode, { deadline = Date.now() }: ThrownAt): Partial<ErrorResult> {
  return code === "TIMEOUT" ? { details: { deadline } } : {};
}

/** Returns an own property, since the code of an error from another process may be any text. */
function own(texts: Sentences, code: SurfaceErrorCode): string | undefined {
  return Object.hasOwn(texts, code) ? texts[code] : undefined;
}

/** The codes of a call that did not start. */
const unstarted: ReadonlySet<SurfaceErrorCode> = new Set(["UNAVAILABLE", "OVERFLOW", "DROPPED"]);

function unsentSentenceOf(code: SurfaceErrorCode, { changes, isUnsent }: ThrownAt): string | undefined {
  const wasUnsent = isUnsent === true || (changes === "call" && code === "UNAVAILABLE");
  return wasUnsent ? own(unsentSentences, code) : undefined;
}

/** Returns the sentence for an error that is not a fault, after which a retry may not be safe. */
function sentenceOf(error: SurfaceError, { changes }: ThrownAt): string | undefined {
  const { code } = error;
  const { sessionEnded: over } = ownFactsOf(error);
  // Members ask no questions, so a single call was not made.
  if (over !== undefined) return changes === "steps" ? `${over}, and ${unknownOutcome}` : over;
  const isUnsafe = changes === "steps" || (changes === "call" && !unstarted.has(code));
  return (isUnsafe ? own(unsafeSentences, code) : undefined) ?? own(sentences, code);
}

/** Refuses a call whose deadline passed while its client had a question open; `undefined` for any other error. */
function toUnansweredRefusal(error: SurfaceError, at: ThrownAt): ErrorResult | undefined {
  const { unanswered } = ownFactsOf(error);
  if (unanswered === undefined) return undefined;
  const effect = at.changes === "steps" ? `, and ${unknownOutcome}` : "";
  return createErrorResult("TIMEOUT", `the deadline passed: ${unanswered}${effect}`, {
    ...toTimeoutDetails("TIMEOUT", at),
    unanswered,
  });
}

function fromSurfaceError(error: SurfaceError, at: ThrownAt): ErrorResult {
  const { code, issues } = error;
  // Only our own validation throws this code without an id.
  if (code === "VALIDATION_ERROR" && at.argumentsRoot !== undefined && error.correlationId === undefined) {
    return createErrorResult(code, "the arguments do not fit", { issues: toIssues(issues, at.argumentsRoot) });
  }
  const unsent = unsentSentenceOf(code, at);
  if (unsent !== undefined) return createErrorResult(code, unsent, { ...toTimeoutDetails(code, at), retryable: true });
  const sentence = sentenceOf(error, at);
  if (sentence !== undefined) return createErrorResult(code, sentence, toTimeoutDetails(code, at));
  const retry = own(retrySentences, code);
  if (retry !== undefined) return createErrorResult(code, retry, { retryable: true });
  const known = own(faultSentences, code) === undefined ? "INTERNAL" : code;
  return faultRefused(known, loggedId(error) ?? logged(error, at), at);
}

function fromRefusal(refusal: Refusal, at: ThrownAt): ErrorResult {
  const code = clipText(refusal.code, maxCodeBytes);
  const message = clipText(refusal.message, maxMessageBytes);
  const given = refusal.details;
  const { requiredCapabilities, retryable, issues = [] } = ownFactsOf(refusal);
  const facts = { issues, ...(retryable === undefined ? {} : { retryable }) };
  if (given === undefined) return createErrorResult(code, message, facts);
  const details = writeDetails(given);
  if (requiredCapabilities !== undefined) return createErrorResult(code, message, { details, requiredCapabilities });
  if (details !== undefined) return createErrorResult(code, message, { ...facts, details });
  const withheld = new SurfaceError(
    "UNSERIALISABLE",
    `Cannot send the details of a refusal of ${at.where}: they must be JSON of at most ${maxDetailsLength} characters`,
    { cause: refusal },
  );
  return createErrorResult(code, message, { correlationId: logged(withheld, at) });
}

/** Returns details as inert data; `undefined` if they are too large or not JSON. */
function writeDetails(details: unknown): JsonValue | undefined {
  try {
    const text = anyCodec.stringify(details);
    // A codec writes JSON.
    return text.length > maxDetailsLength ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

function faultRefused(code: SurfaceErrorCode, correlationId: string | undefined, { changes }: ThrownAt): ErrorResult {
  const effect = changes !== undefined && answered.has(code) ? `; ${unsafeFault}` : "";
  return createErrorResult(code, `${faultSentences[code]}${effect}; it is logged under ${correlationId}`, {
    correlationId,
  });
}

function logged(cause: unknown, at: ThrownAt): string | undefined {
  return internalError(cause, at.where, at.report).correlationId;
}

/** Returns the id under which a fault was logged where it happened. */
function loggedId({ correlationId }: SurfaceError): string | undefined {
  return typeof correlationId === "string" && idPattern.test(correlationId) ? correlationId : undefined;
}

/** Bounds issues, which may come from another process. */
function toIssues(issues: readonly Issue[], root: string): readonly Issue[] {
  return issues.slice(0, maxIssues).map(({ path, message }) =>
    createIssue(
      [root, path].filter((part) => part !== ""),
      message,
    ),
  );
}

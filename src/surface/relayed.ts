import { SurfaceError, type Issue, type SurfaceErrorCode } from "../errors.ts";

/**
 * What a projection may say of a surface that it is a client of, in words of its own: those of the error itself may
 * name a member that its caller cannot see.
 */
const words: Partial<Record<SurfaceErrorCode, string>> = Object.freeze({
  VALIDATION_ERROR: "the input does not fit",
  ABSENT: "there is nothing yet",
  TIMEOUT: "the deadline passed",
  ABORTED: "the use was cancelled",
  OVERFLOW: "too much is under way",
  UNAVAILABLE: "what this comes from cannot be reached",
  OUTCOME_UNKNOWN: "the connection to what this comes from was lost before the answer",
  CONTRACT_MISMATCH: "what this comes from is of another version",
  PROTOCOL_MISMATCH: "what this comes from speaks another protocol",
  FRAME_TOO_LARGE: "what was to be sent is too large for one message",
  DROPPED: "what this comes from was dropped",
  CLOSED: "the application behind this is closing",
});

/**
 * An error that a live surface answers with on purpose, about a surface that it is a client of itself. So it is never the failure
 * of the connection that brings it. Not exported from the package: authors tell errors by their code.
 */
export class RelayedError extends SurfaceError {}

/** Whether an error comes from a surface further up, so that it reaches the caller with its code. */
export function isRelayed(cause: unknown): cause is SurfaceError {
  try {
    return cause instanceof RelayedError;
  } catch {
    // A proxy may throw at that.
    return false;
  }
}

/** What is told of a failure further up. */
export interface RelayTerms {
  /** Told instead of `DISCONNECTED`: whether what was asked may have been acted upon. Default `UNAVAILABLE`. */
  readonly disconnected?: "OUTCOME_UNKNOWN" | "UNAVAILABLE";
  /** The issues of an input that went up as it was given. Default: that it did not fit there is a fault, and no answer. */
  readonly tellsIssues?: boolean;
}

function toIssues(cause: SurfaceError, { tellsIssues = false }: RelayTerms): readonly Issue[] | undefined {
  return cause.code === "VALIDATION_ERROR" && !tellsIssues ? undefined : cause.issues;
}

/**
 * Turns what a use of another surface failed with into what the projection's own caller may be told: the code of an error
 * that says where things stand, in plain words. Everything else is returned as it is, a `Refusal` to cross, a fault to be
 * masked.
 */
export function relay(cause: unknown, terms: RelayTerms = {}): unknown {
  if (!(cause instanceof SurfaceError)) return cause;
  const code = cause.code === "DISCONNECTED" ? (terms.disconnected ?? "UNAVAILABLE") : cause.code;
  const message = Object.hasOwn(words, code) ? words[code] : undefined;
  const issues = toIssues(cause, terms);
  if (message === undefined || issues === undefined) return cause;
  return new RelayedError(code, message, { issues, cause });
}

/** The codes that say of one use that it did nothing, or may have done something. */
const ofOneUse: ReadonlySet<SurfaceErrorCode> = new Set(["UNAVAILABLE", "OVERFLOW", "DROPPED", "OUTCOME_UNKNOWN"]);

/**
 * What may be told of a failure further up where it came from within steps of the author's, each of which may change
 * something: that one of them was not begun says nothing of those before it, so that the outcome of the whole is unknown.
 * Of any other code nothing is told but what its owner tells of an error of his own.
 */
export function relaySteps(cause: unknown): unknown {
  if (!isRelayed(cause)) return cause;
  const { code } = cause;
  if (!ofOneUse.has(code)) return new SurfaceError(code, cause.message, { cause });
  const message = "what this comes from did not answer to the end, and some of it may have taken effect";
  return new RelayedError("OUTCOME_UNKNOWN", message, { cause });
}

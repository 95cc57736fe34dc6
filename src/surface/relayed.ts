import { SurfaceError, type Issue, type SurfaceErrorCode } from "../errors.ts";

/** The messages of errors that a projection relays. The source's own message may name a member that the caller cannot see. */
const messages: Partial<Record<SurfaceErrorCode, string>> = Object.freeze({
  VALIDATION_ERROR: "the input does not fit",
  ABSENT: "there is nothing yet",
  TIMEOUT: "the deadline passed",
  ABORTED: "the use was cancelled",
  OVERFLOW: "too much is under way",
  UNAVAILABLE: "the source cannot be reached",
  OUTCOME_UNKNOWN: "the connection to the source was lost before the answer",
  CONTRACT_MISMATCH: "the source is of another version",
  PROTOCOL_MISMATCH: "the source speaks another protocol",
  FRAME_TOO_LARGE: "the message to the source is too large",
  DROPPED: "the source was dropped",
  CLOSED: "the application behind this is closing",
});

/** An error that a projection passes on from its source: never a failure of the connection that delivers it, and not for authors. */
export class RelayedError extends SurfaceError {}

/** Returns true for an error of the source of a projection, which reaches the caller with its code. */
export function isRelayed(cause: unknown): cause is SurfaceError {
  try {
    return cause instanceof RelayedError;
  } catch {
    // A proxy may throw at `instanceof`.
    return false;
  }
}

/** Options of {@link relay}. */
export interface RelayOptions {
  /** The code in place of `DISCONNECTED`. @default "UNAVAILABLE" */
  readonly disconnected?: "OUTCOME_UNKNOWN" | "UNAVAILABLE";
  /** Whether the caller receives issues of the input: only if the input was passed on unchanged. @default false */
  readonly tellsIssues?: boolean;
}

function issuesFor(cause: SurfaceError, { tellsIssues = false }: RelayOptions): readonly Issue[] | undefined {
  return cause.code === "VALIDATION_ERROR" && !tellsIssues ? undefined : cause.issues;
}

/** Returns the error that a projection answers with when its source fails: its code, with a message that names nothing of the source. */
export function relay(cause: unknown, terms: RelayOptions = {}): unknown {
  if (!(cause instanceof SurfaceError)) return cause;
  const code = cause.code === "DISCONNECTED" ? (terms.disconnected ?? "UNAVAILABLE") : cause.code;
  const message = Object.hasOwn(messages, code) ? messages[code] : undefined;
  const issues = issuesFor(cause, terms);
  if (message === undefined || issues === undefined) return cause;
  return new RelayedError(code, message, { issues, cause });
}

/** The codes that tell whether one request took effect. */
const ofOneRequest: ReadonlySet<SurfaceErrorCode> = new Set(["UNAVAILABLE", "OVERFLOW", "DROPPED", "OUTCOME_UNKNOWN"]);

/** Returns the error of a handler of several steps when one fails: the outcome is unknown, or the error is masked. */
export function relaySteps(cause: unknown): unknown {
  if (!isRelayed(cause)) return cause;
  const { code } = cause;
  if (!ofOneRequest.has(code)) return new SurfaceError(code, cause.message, { cause });
  const message = "the source did not answer to the end, and some steps may have taken effect";
  return new RelayedError("OUTCOME_UNKNOWN", message, { cause });
}

/**
 * Every error this package throws, and every code it answers with.
 *
 * Two classes, told apart by who may see them. {@link SurfaceError} is ours: a contract broken at boot, a link that is
 * gone, an argument that does not fit. {@link Refusal} is the author's: a handler says no, on purpose, in words meant
 * for the agent. Anything else that a handler throws is masked as `INTERNAL` with a correlation id.
 */

/** One thing that is wrong with a value: where, and why. `path` is dotted; the empty string is the value itself. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/**
 * Codes of {@link SurfaceError}. The first group is thrown while an app is put together (boot), the second while it
 * runs and may reach an agent.
 */
export const surfaceErrorCodes = [
  // boot
  "INVALID_NAME",
  "INVALID_MEMBER",
  "INVALID_OPTION",
  "NAME_COLLISION",
  "UNKNOWN_MEMBER",
  "WRONG_KIND",
  "ALREADY_EXPOSED",
  "CONTRADICTION",
  "SCHEMA_UNSUPPORTED",
  "MISSING_HANDLER",
  "UNKNOWN_HANDLER",
  "NOT_LINKED",
  "ALREADY_LINKED",
  "CONTRACT_MISMATCH",
  "EXPOSURE_DIFFERS",
  "UNSAFE_DIRECTORY",
  "SOCKET_IN_USE",
  "NOT_A_SOCKET",
  "WRONG_OWNER",
  // run time
  "VALIDATION_ERROR",
  "INVALID_OUTPUT",
  "UNSERIALISABLE",
  "NOT_FOUND",
  "ABSENT",
  "TIMEOUT",
  "ABORTED",
  "OVERFLOW",
  "UNAVAILABLE",
  "DISCONNECTED",
  "OUTCOME_UNKNOWN",
  "PROTOCOL_MISMATCH",
  "FRAME_TOO_LARGE",
  "DROPPED",
  "INPUT_REQUIRED",
  "CLOSED",
  "INTERNAL",
] as const;

/** A code of {@link SurfaceError}. */
export type SurfaceErrorCode = (typeof surfaceErrorCodes)[number];

/** Further fields of an error. */
export interface ErrorDetails {
  /** The faults of a value, one for each part. */
  readonly issues?: readonly Issue[];
  /** Names the log entry that holds the cause of an `INTERNAL` error. */
  readonly correlationId?: string;
  /** The error that led here. Never shown to an agent. */
  readonly cause?: unknown;
}

/**
 * An error of the package itself. `code` is stable and is what callers match on; the message is for people and may
 * change. The `cause`, where there is one, stays on this side of a link.
 */
export class SurfaceError extends Error {
  override readonly name = "SurfaceError";
  readonly code: SurfaceErrorCode;
  readonly issues: readonly Issue[];
  readonly correlationId: string | undefined;

  constructor(code: SurfaceErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.issues = details.issues ?? [];
    this.correlationId = details.correlationId;
  }
}

/**
 * A handler's deliberate "no". Code, message and details reach the agent as they are, across every link, so put
 * nothing into them that the agent may not read. Only where a procedure declares the code with a schema, in its
 * `errors`, are the details validated first, and withheld when they do not fit.
 *
 * @example
 * ```ts
 * throw new Refusal("ALREADY_RUNNING", "a run is in progress", { run: 7 });
 * ```
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: string;
  readonly details: unknown;

  /**
   * @param code - chosen by the author, in `UPPER_SNAKE` by convention; any text reaches the agent as it is.
   * @param message - one sentence for the agent.
   * @param details - any JSON value.
   */
  constructor(code: string, message: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Returns the code of a failed system call, or the empty string. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

/** Codes of {@link CiError}; callers match on these and never on a message. */
export type CiErrorCode =
  | "INVALID_PIPELINE"
  | "RUN_IN_PROGRESS"
  | "NO_RUN"
  | "UNKNOWN_NODE"
  | "NODE_BUSY"
  | "NEEDS_NOT_PASSED"
  | "OUTSIDE_SCRATCH"
  | "NOT_REPAIRABLE"
  | "INVALID_JOURNAL"
  | "INVALID_STATE"
  | "CLOSED";

/** The one error the CI engine throws: it says no, and `code` says why. */
export class CiError extends Error {
  override readonly name = "CiError";
  readonly code: CiErrorCode;

  constructor(code: CiErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

import { SurfaceError, type SurfaceErrorCode } from "../../errors.ts";
import type { OutputCheck } from "../check-value.ts";
import { internalError, maskFault, withTarget, type Fault } from "../fault.ts";
import { isRelayed, relay } from "../relayed.ts";

/** Returns the reason of the staleness that a failure causes. */
export function staleReasonOf(cause: unknown): "invalid" | "lost" {
  try {
    return cause instanceof SurfaceError && cause.code === "INVALID_OUTPUT" ? "invalid" : "lost";
  } catch {
    // A proxy may throw when it is read.
    return "lost";
  }
}

/** Returns the relayed form of a failure of another surface. */
function toRelayed(cause: unknown): SurfaceError | undefined {
  try {
    const relayed = relay(cause);
    return isRelayed(relayed) ? relayed : undefined;
  } catch {
    // As above.
    return undefined;
  }
}

/**
 * Masks the faults of a source. Reports the first fault of each code until the source works again; later ones share its correlation id,
 * so that a database that is down does not fill the log.
 */
export class FaultDeduplicator {
  readonly #check: OutputCheck;
  readonly #logged = new Map<SurfaceErrorCode, SurfaceError>();

  constructor(check: OutputCheck) {
    this.#check = check;
  }

  /** Returns the error for the reader. */
  mask(cause: unknown): Error {
    const { where, report } = this.#check;
    const relayed = toRelayed(cause);
    if (relayed !== undefined) {
      if (!this.#logged.has(relayed.code)) internalError(cause, where, report);
      this.#logged.set(relayed.code, relayed);
      return relayed;
    }
    const faults: Fault[] = [];
    const error = maskFault(
      cause,
      where,
      withTarget(report, (fault) => void faults.push(fault)),
    );
    if (!(error instanceof SurfaceError) || error.correlationId === undefined) return error;
    const known = this.#logged.get(error.code);
    if (known !== undefined) return known;
    this.#logged.set(error.code, error);
    for (const fault of faults) report(fault);
    return error;
  }

  /** Reports a value that does not fit its schema, or a schema that throws. {@link mask} gets the error afterwards. */
  readonly report = (fault: Fault): void => {
    const code = staleReasonOf(fault.cause) === "invalid" ? "INVALID_OUTPUT" : "INTERNAL";
    if (!this.#logged.has(code)) this.#check.report(fault);
  };

  /** Forgets all faults: the source works. */
  clear(): void {
    this.#logged.clear();
  }
}

import { SurfaceError, type SurfaceErrorCode } from "../../errors.ts";
import type { OutputCheck } from "../check-value.ts";
import { asPackageError, internalError, maskFault, withTarget, type Fault } from "../fault.ts";
import { isRelayed, relay } from "../relayed.ts";

/** Returns the reason of the staleness that a failure causes. */
export function staleReasonOf(cause: unknown): "invalid" | "lost" {
  return asPackageError(cause)?.code === "INVALID_OUTPUT" ? "invalid" : "lost";
}

function toRelayed(cause: unknown): SurfaceError | undefined {
  const relayed = relay(asPackageError(cause));
  return isRelayed(relayed) ? relayed : undefined;
}

/** Masks the faults of a source. Reports the first of each code until the source works again; later ones share its correlation id. */
export class FaultDeduplicator {
  readonly #check: OutputCheck;
  readonly #logged = new Map<SurfaceErrorCode, SurfaceError>();

  constructor(check: OutputCheck) {
    this.#check = check;
  }

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

  clear(): void {
    this.#logged.clear();
  }
}

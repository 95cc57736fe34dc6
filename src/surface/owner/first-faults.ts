import { SurfaceError, type SurfaceErrorCode } from "../../errors.ts";
import type { OutputCheck } from "../check-value.ts";
import { internalError, maskFault, withTarget, type Fault } from "../fault.ts";
import { isRelayed, relay } from "../relayed.ts";
import { toReason } from "./to-reason.ts";

/** Returns the relayed form of a failure further up. A proxy may throw when it is read; it has none. */
function toRelayed(cause: unknown): SurfaceError | undefined {
  try {
    const told = relay(cause);
    return isRelayed(told) ? told : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Masks the faults of a source. The first of each code is reported, until the source works again; the later ones share its
 * correlation id, so that a database that is away does not fill the log.
 */
export class FirstFaults {
  readonly #check: OutputCheck;
  readonly #logged = new Map<SurfaceErrorCode, SurfaceError>();

  constructor(check: OutputCheck) {
    this.#check = check;
  }

  /** Returns the error for the reader. */
  mask(cause: unknown): Error {
    const { where, report } = this.#check;
    const told = toRelayed(cause);
    if (told !== undefined) {
      if (!this.#logged.has(told.code)) internalError(cause, where, report);
      this.#logged.set(told.code, told);
      return told;
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

  /** Reports a value that its schema refuses, or a schema that throws; {@link mask} notes its error afterwards. */
  readonly report = (fault: Fault): void => {
    const code = toReason(fault.cause) === "invalid" ? "INVALID_OUTPUT" : "INTERNAL";
    if (!this.#logged.has(code)) this.#check.report(fault);
  };

  /** Forgets all faults: the source works. */
  clear(): void {
    this.#logged.clear();
  }
}

import { SurfaceError } from "../../errors.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";

/** Reports the faults of services to the author, each one once until it is corrected. */
export class WarningLog {
  readonly #report: FaultReporter;
  readonly #where: string;
  #before: ReadonlySet<string> = new Set();
  #now = new Set<string>();

  constructor(report: FaultReporter, where: string) {
    this.#report = report;
    this.#where = where;
  }

  /** Starts another read of the services. Faults that it does not add again are corrected, and may be reported later. */
  restart(): void {
    this.#before = this.#now;
    this.#now = new Set();
  }

  /** Reports a fault unless it is known. @param id - identifies the fault from one read to the next. */
  add(id: string, cause: unknown): void {
    const isKnown = this.#before.has(id) || this.#now.has(id);
    this.#now.add(id);
    if (!isKnown) this.tell(cause);
  }

  /** Reports an entry that is left out, with the reason. @param doing - the failed action: `Cannot list action "heal"`. */
  leaveOut(doing: string, cause: unknown): void {
    const isOurs = cause instanceof SurfaceError;
    const message = `${doing}: ${isOurs ? cause.message : "it cannot be read"}; it is left out`;
    this.add(message, new SurfaceError(isOurs ? cause.code : "INVALID_OPTION", message, { cause }));
  }

  /** Reports an event, each time. */
  tell(cause: unknown): void {
    internalError(cause, this.#where, this.#report);
  }
}

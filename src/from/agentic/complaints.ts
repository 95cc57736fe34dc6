import { internalError, type FaultReporter } from "../../surface/fault.ts";

/** What is wrong with what a service says, each thing told once for as long as it is wrong. */
export class Complaints {
  readonly #report: FaultReporter;
  readonly #where: string;
  #before: ReadonlySet<string> = new Set();
  #now = new Set<string>();

  constructor(report: FaultReporter, where: string) {
    this.#report = report;
    this.#where = where;
  }

  /** Everything is looked at again: what is not wrong any more may be told anew when it is. */
  restart(): void {
    this.#before = this.#now;
    this.#now = new Set();
  }

  /** @param id - names what is wrong: the same as long as it is the same. */
  add(id: string, cause: unknown): void {
    const isKnown = this.#before.has(id) || this.#now.has(id);
    this.#now.add(id);
    if (!isKnown) this.tell(cause);
  }

  /** Tells of something that happens, each time. */
  tell(cause: unknown): void {
    internalError(cause, this.#where, this.#report);
  }
}

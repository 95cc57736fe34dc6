import type { Completer } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import type { CompletionOutcome } from "./outcome.ts";

/** A completer that was asked. */
interface Asked {
  readonly where: string;
  readonly complete: Completer;
}

/** Completers that did not answer in time when they were asked last. */
export class HangingCompleters {
  readonly #timeoutMs: number;
  readonly #report: FaultReporter;
  readonly #hanging = new WeakSet<Completer>();

  constructor(timeoutMs: number, report: FaultReporter) {
    this.#timeoutMs = timeoutMs;
    this.#report = report;
  }

  /** Nobody else hears of proposals that come too late. Somebody who writes asks again and again: it is told once. */
  note(outcome: CompletionOutcome, { where, complete }: Asked): void {
    if (outcome.kind !== "refused") return void this.#hanging.delete(complete);
    if (outcome.code !== "TIMEOUT" || this.#hanging.has(complete)) return;
    this.#hanging.add(complete);
    const cause = new SurfaceError("TIMEOUT", `Waiting for proposals: none came within ${this.#timeoutMs} ms`);
    internalError(cause, where, this.#report);
  }
}

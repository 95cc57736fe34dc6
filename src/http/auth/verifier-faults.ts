import type { Clock } from "../../spine/clock.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";

const intervalMs = 10_000;

/** Reports that the verifier fails once in a while, and how often since: whoever sends tokens would write the log. */
export class VerifierFaults {
  readonly #clock: Clock;
  readonly #report: FaultReporter;
  #told: { readonly at: number; readonly correlationId: string | undefined; untold: number } | undefined;

  constructor(clock: Clock, report: FaultReporter) {
    this.#clock = clock;
    this.#report = report;
  }

  /** It has failed. Returns under what that is reported, which all failures of one interval share. */
  add(cause: unknown): string | undefined {
    const at = this.#clock.now();
    const told = this.#told;
    if (told !== undefined && at - told.at < intervalMs && at >= told.at) {
      told.untold += 1;
      return told.correlationId;
    }
    const since =
      told === undefined || told.untold === 0
        ? ""
        : `, which has failed ${told.untold} times more since it was last told of`;
    const { correlationId } = internalError(cause, `the verifier of tokens${since}`, this.#report);
    this.#told = { at, correlationId, untold: 0 };
    return correlationId;
  }
}

import type { Asking } from "../catalog/asking.ts";
import type { Refused } from "../catalog/outcome.ts";
import { inputRequired } from "../catalog/to-result-text.ts";
import { SurfaceError } from "../errors.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import type { CallContext } from "./call-context.ts";

/** Where code of an author's runs, for their log. */
interface Suspended {
  readonly where: string;
  readonly report: FaultReporter;
}

/** Whether a call has ended because its client is asked something, or the call that it is within. */
export function isSuspended({ endedWith }: CallContext): boolean {
  return endedWith?.code === "INPUT_REQUIRED";
}

/** What such a call comes to; `undefined` for any other. What it is within is all that anybody hears of. */
export function suspendedOutcome(call: CallContext): Asking | Refused | undefined {
  if (!isSuspended(call)) return undefined;
  return (call.partOf === undefined ? call.questions?.outcome : undefined) ?? inputRequired;
}

/**
 * Tells the author of a handler that went on after its question was not answered: what it did then is done again, or was
 * decided without an answer.
 */
export function watchGoingOn(call: CallContext, { where, report }: Suspended): void {
  if (!isSuspended(call) || call.trail?.isBlocked !== true) return;
  const tell = (): void => {
    const cause = new SurfaceError(
      "INPUT_REQUIRED",
      `Running ${where}: it went on after a question that had no answer yet, and must let through what asking rejects with`,
    );
    internalError(cause, where, report);
  };
  // One that is refused in any way has not gone on.
  void call.overrun?.then(tell, () => {});
}

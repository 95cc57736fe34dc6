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

/** Returns whether a question ended a call or the call that it is within. */
export function isSuspended({ endedWith }: CallContext): boolean {
  return endedWith?.code === "INPUT_REQUIRED";
}

/** Returns the outcome of a call that a question ended. Only that of a host's call reaches a client. */
export function suspendedOutcome(call: CallContext): Asking | Refused | undefined {
  if (!isSuspended(call)) return undefined;
  return (call.partOf === undefined ? call.questions?.outcome : undefined) ?? inputRequired;
}

/** Reports a handler that went on after its question ended the call: it decided without an answer, and runs again. */
export function watchGoingOn(call: CallContext, { where, report }: Suspended): void {
  if (!isSuspended(call) || call.trail?.isBlocked !== true) return;
  const tell = (): void => {
    const cause = new SurfaceError(
      "INPUT_REQUIRED",
      `Running ${where}: it went on after a question that had no answer yet, and must let through what asking rejects with`,
    );
    internalError(cause, where, report);
  };
  // A handler that rejects has not gone on.
  void call.overrun?.then(tell, () => {});
}

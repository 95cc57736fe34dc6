import { SurfaceError } from "../errors.ts";

/** What callers are told of the deadlines that passed while a question was open. Other errors have the same code. */
const reasons = new WeakMap<SurfaceError, string>();

/**
 * Creates the `TIMEOUT` of a call whose deadline passed while its client had a question open.
 *
 * @param reason - the question and for how long it was open, in words that its caller may read.
 */
export function toUnanswered(reason: string): SurfaceError {
  const error = new SurfaceError("TIMEOUT", `the deadline passed: ${reason}`);
  reasons.set(error, reason);
  return error;
}

/** Returns the reason of such an error; `undefined` for any other. */
export function unansweredReason(error: SurfaceError): string | undefined {
  return reasons.get(error);
}

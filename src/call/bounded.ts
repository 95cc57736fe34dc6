import type { Refused } from "../catalog/outcome.ts";
import { inputRequired } from "../catalog/to-result-text.ts";
import type { CallContext } from "./call-context.ts";
import type { Deadlines } from "./deadlines.ts";
import { toRefused, type RefusedAt } from "./to-refused.ts";

/** A piece of work that may take so long, and is answered for like this. */
export interface Bounded<TOutcome> {
  readonly timeoutMs: number;
  readonly run: () => Promise<TOutcome>;
  readonly at: RefusedAt;
}

/** Runs the work of a call until its time is over, or it was cancelled. Never rejects. */
export async function runBounded<TOutcome>(
  deadlines: Deadlines,
  call: CallContext,
  { timeoutMs, run, at }: Bounded<TOutcome>,
): Promise<TOutcome | Refused> {
  deadlines.watch(call, { timeoutMs });
  try {
    call.assertRunning();
    return await call.outcome(run());
  } catch (cause) {
    return call.isSuspended ? inputRequired : toRefused(cause, { ...at, deadline: call.passedDeadline });
  } finally {
    call.unwatch?.();
    call.finish();
  }
}

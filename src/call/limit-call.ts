import type { ToolEntry } from "../catalog/entry.ts";
import { createErrorResult, type ErrorResult } from "../catalog/outcome.ts";
import { SurfaceError } from "../errors.ts";
import { callerKey } from "../surface/caller.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { isThenable } from "../surface/is-thenable.ts";
import { withTimeout } from "../surface/system-clock.ts";
import type { CallContext } from "./call-context.ts";
import { hasAnswers, questionsOf } from "./questions.ts";
import { toErrorResult } from "./to-error-result.ts";

/** The verdict of a rate limiter: the request may go on, or the milliseconds until the next may. */
export type LimitVerdict = { readonly ok: true } | { readonly ok: false; readonly retryAfterMs: number };

/** Counts costs by key. Share it between processes that serve one application to limit them together. */
export interface RateLimiter {
  /**
   * Takes the cost from the budget of a key. If the limiter throws, rejects, or does not answer within a second, the call is refused.
   *
   * @param key - identifies a caller; opaque, at most 1 KiB.
   * @param cost - 1 for a call that only reads, 4 for a call that may change something.
   */
  limit(key: string, cost: number): LimitVerdict | Promise<LimitVerdict>;
}

/** Limits the requests of a caller that run nothing. Synchronous. */
export interface AttemptLimiter {
  /** Returns whether a key may make one more request. Takes nothing. */
  check(key: string): LimitVerdict;
  charge(key: string): void;
}

/** Limits calls that run, and in `attempts` requests that run nothing, which are known only when they have ended. */
export interface CallLimiter extends RateLimiter {
  readonly attempts?: AttemptLimiter;
}

const limitTimeoutMs = 1000;

/** The cost of a call. A call that may change something costs as much as four that only read. */
const readCost = 1;
const changeCost = 4;

/** Returns the refusal of a verdict; `undefined` if the call may go on. Throws for a malformed verdict. */
function toAnswer(verdict: LimitVerdict): ErrorResult | undefined {
  const { ok, retryAfterMs: given }: { readonly ok: unknown; readonly retryAfterMs?: unknown } = verdict;
  if (ok === true) return undefined;
  const retryAfterMs = Math.ceil(Number(given));
  if (ok !== false || !Number.isSafeInteger(retryAfterMs) || retryAfterMs < 0) {
    throw new SurfaceError(
      "INVALID_OUTPUT",
      "Cannot use the verdict of a rate limiter: return { ok: true } or { ok: false, retryAfterMs }",
    );
  }
  return createErrorResult("RATE_LIMITED", `too many calls: wait ${retryAfterMs} ms before the next`, {
    details: { retryAfterMs },
    retryable: true,
  });
}

function toFault(cause: unknown, origin: string, report: FaultReporter): ErrorResult {
  const where = `the rate limiter, before ${origin}`;
  return toErrorResult(new SurfaceError("INTERNAL", `Cannot use ${where}: it failed`, { cause }), { where, report });
}

/** Returns the refusal for a caller with too many requests that ran nothing; `undefined` if the request may go on. */
export function refuseAttempt({ limiter, caller }: CallContext): ErrorResult | undefined {
  const { attempts } = limiter ?? {};
  return attempts === undefined ? undefined : toAnswer(attempts.check(callerKey(caller)));
}

/** Counts a request that has ended, unless a tool ran for it or the client was asked. A gateway's tools run nothing themselves. */
export function chargeAttempt(call: CallContext): void {
  const { limiter, caller, hasRun } = call;
  const { attempts } = limiter ?? {};
  if (attempts === undefined || hasRun || call.isSuspended) return;
  attempts.charge(callerKey(caller));
}

/** Returns whether a call was counted in an earlier round: a retried root call, or a nested call that had asked. Others count again. */
function wasCounted(call: CallContext): boolean {
  const { resumed } = call.root.asking ?? {};
  if (resumed === undefined || !hasAnswers(resumed)) return false;
  return call.partOf === undefined || questionsOf(call)?.hasAnswerIn(call.trail?.place ?? "") === true;
}

/**
 * Counts a call under its caller. Returns its refusal; `undefined` if it may run. Does not count calls of a gateway's tools, nor calls
 * that were counted in an earlier round. Authorise the call first. Never throws or rejects.
 */
export function chargeCall(
  { origin, hints, isUncounted }: Pick<ToolEntry, "origin" | "hints" | "isUncounted">,
  call: CallContext,
  report: FaultReporter,
): ErrorResult | undefined | Promise<ErrorResult | undefined> {
  const { limiter, caller } = call;
  if (limiter === undefined || isUncounted === true || wasCounted(call)) return undefined;
  try {
    const asked = limiter.limit(callerKey(caller), hints.readOnlyHint ? readCost : changeCost);
    if (!isThenable(asked)) return toAnswer(asked);
    return withTimeout(asked, limitTimeoutMs, "Cannot use a rate limiter")
      .then(toAnswer)
      .catch((cause: unknown) => toFault(cause, origin, report));
  } catch (cause) {
    return toFault(cause, origin, report);
  }
}

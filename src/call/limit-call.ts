import type { CallContext } from "./call-context.ts";
import { callerKey } from "../surface/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { isThenable } from "../surface/is-thenable.ts";
import { withTimeout } from "../surface/system-clock.ts";
import { createRefused, type Refused } from "../catalog/outcome.ts";
import type { LimitVerdict } from "./rate-limiter.ts";
import { answersAny, questionsOf } from "./questions.ts";
import { toRefused } from "./to-refused.ts";

const limitTimeoutMs = 1000;

/** The cost of a call. A call that may change something costs as much as four that only read. */
const readCost = 1;
const changeCost = 4;

/** Returns the refusal of a verdict; `undefined` for a verdict that lets the call through. A malformed verdict does not. */
function toAnswer(verdict: LimitVerdict): Refused | undefined {
  const { ok, retryAfterMs: given }: { readonly ok: unknown; readonly retryAfterMs?: unknown } = verdict;
  if (ok === true) return undefined;
  const retryAfterMs = Math.ceil(Number(given));
  if (ok !== false || !Number.isSafeInteger(retryAfterMs) || retryAfterMs < 0) {
    throw new SurfaceError("INVALID_OUTPUT", "Asking a rate limiter: what it answered is no verdict");
  }
  return createRefused("RATE_LIMITED", `too many calls: wait ${retryAfterMs} ms before the next`, {
    details: { retryAfterMs },
    retryable: true,
  });
}

function toFault(cause: unknown, origin: string, report: FaultReporter): Refused {
  const where = `the rate limiter, before ${origin}`;
  return toRefused(new SurfaceError("INTERNAL", `Asking ${where}: it failed`, { cause }), { where, report });
}

/** Refuses the request of a caller with too many requests that ran nothing. Returns `undefined` if the request goes on. */
export function limitAttempt({ limiter, caller }: CallContext): Refused | undefined {
  const { attempts } = limiter ?? {};
  return attempts === undefined ? undefined : toAnswer(attempts.check(callerKey(caller)));
}

/**
 * Counts the request of a call that has ended, unless a tool ran for it or its user was asked: that is for {@link limitCall}. A
 * gateway's own tools run nothing by themselves.
 */
export function chargeAttempt(call: CallContext): void {
  const { limiter, caller, hasRun } = call;
  const { attempts } = limiter ?? {};
  if (attempts === undefined || hasRun || call.isSuspended) return;
  attempts.charge(callerKey(caller));
}

/**
 * Returns whether a call was counted in an earlier round: a host's call that is retried with an answer, and a call within it that
 * had to ask. Other calls within it run again, and count again.
 */
function wasCounted(call: CallContext): boolean {
  const { resumed } = call.root.asking ?? {};
  if (resumed === undefined || !answersAny(resumed)) return false;
  return call.partOf === undefined || questionsOf(call)?.hasAnswerIn(call.trail?.place ?? "") === true;
}

/**
 * Counts a call under its caller. Returns `undefined` if the call may run, else its refusal. A limiter that fails, or does not
 * answer within a second, refuses. Calls of tools that stand for others, and calls that were counted before they asked, are not
 * counted. Authorise the call first. Never throws or rejects.
 */
export function limitCall(
  { origin, hints, isUncounted }: Pick<ToolEntry, "origin" | "hints" | "isUncounted">,
  call: CallContext,
  report: FaultReporter,
): Refused | undefined | Promise<Refused | undefined> {
  const { limiter, caller } = call;
  if (limiter === undefined || isUncounted === true || wasCounted(call)) return undefined;
  try {
    const asked = limiter.limit(callerKey(caller), hints.readOnlyHint ? readCost : changeCost);
    if (!isThenable(asked)) return toAnswer(asked);
    return withTimeout(asked, limitTimeoutMs, "Asking a rate limiter")
      .then(toAnswer)
      .catch((cause: unknown) => toFault(cause, origin, report));
  } catch (cause) {
    return toFault(cause, origin, report);
  }
}

import type { CallContext } from "./call-context.ts";
import { callerKey } from "../surface/caller-key.ts";
import type { Caller } from "../surface/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import type { FaultReporter } from "../surface/fault.ts";
import { isThenable } from "../surface/is-thenable.ts";
import { createRefused, type Refused } from "../catalog/outcome.ts";
import type { LimitVerdict, RateLimiter } from "./rate-limiter.ts";
import { isSuspended } from "./questions.ts";
import { toRefused } from "./to-refused.ts";

/** How long a limiter may take, in milliseconds. */
const limitTimeoutMs = 1000;

/** The cost of a call. A call that may change something costs as much as four that only read. */
const readCost = 1;
const changeCost = 4;

/** One call that is to be counted. */
export interface LimitedCall {
  /** Left out: there is no limit. */
  readonly limiter: RateLimiter | undefined;
  readonly caller: Caller;
  readonly tool: Pick<ToolEntry, "origin" | "isUncounted"> & {
    readonly hints: Pick<ToolEntry["hints"], "readOnlyHint">;
  };
  /** Told of a limiter that fails. */
  readonly report: FaultReporter;
}

function within<TValue>(work: PromiseLike<TValue>): Promise<TValue> {
  return new Promise((resolve, reject) => {
    const late = (): void =>
      reject(new SurfaceError("TIMEOUT", `Asking a rate limiter: no answer within ${limitTimeoutMs} ms`));
    const timer = setTimeout(late, limitTimeoutMs);
    Promise.resolve(work)
      .finally(() => clearTimeout(timer))
      .then(resolve, reject);
  });
}

/** What a caller is told of a verdict; `undefined` for one that lets the call through. */
function toAnswer(verdict: LimitVerdict): Refused | undefined {
  const { ok, retryAfterMs: given }: { readonly ok: unknown; readonly retryAfterMs?: unknown } = verdict;
  // Nothing else will do: what is no verdict lets nothing through.
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

/** What a caller is told where the limiter gave no verdict: as little as of any other fault, whatever was thrown. */
function toFault(cause: unknown, { tool, report }: LimitedCall): Refused {
  const where = `the rate limiter, before ${tool.origin}`;
  return toRefused(new SurfaceError("INTERNAL", `Asking ${where}: it failed`, { cause }), { where, report });
}

/** Refuses the request of a caller with too many requests that ran nothing. Returns `undefined` if the request goes on. */
export function limitAttempt({ limiter, caller }: CallContext): Refused | undefined {
  const { attempts } = limiter ?? {};
  return attempts === undefined || caller.isAnonymous ? undefined : toAnswer(attempts.check(callerKey(caller)));
}

/**
 * Counts the request of a call that has ended, unless a tool ran for it or its user was asked: that is for {@link limitCall}. A
 * gateway's own tools run nothing by themselves.
 */
export function chargeAttempt(call: CallContext): void {
  const { limiter, caller, hasRun } = call;
  const { attempts } = limiter ?? {};
  if (attempts === undefined || caller.isAnonymous || hasRun || isSuspended(call)) return;
  attempts.charge(callerKey(caller));
}

/**
 * Counts a call under its caller. Returns `undefined` if the call may run, else its refusal. A limiter that fails, or does not
 * answer within a second, refuses. Calls of anonymous callers, and of tools that stand for others, are not counted. Authorise the
 * call first. Never throws or rejects.
 */
export function limitCall(limited: LimitedCall): Refused | undefined | Promise<Refused | undefined> {
  const { limiter, caller, tool } = limited;
  if (limiter === undefined || caller.isAnonymous || tool.isUncounted === true) return undefined;
  try {
    const asked = limiter.limit(callerKey(caller), tool.hints.readOnlyHint ? readCost : changeCost);
    if (!isThenable(asked)) return toAnswer(asked);
    return within(asked)
      .then(toAnswer)
      .catch((cause: unknown) => toFault(cause, limited));
  } catch (cause) {
    return toFault(cause, limited);
  }
}

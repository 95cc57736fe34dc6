import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { Refusal, SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import { visibleLines } from "../schema/visible-text.ts";
import { handleThrown } from "../spine/handle-thrown.ts";
import { isRelayed } from "./relayed.ts";

/** An error that was kept from a caller, for the log of whoever owns the code that threw it. */
export interface Fault {
  /** The caller was given this id instead of the cause. */
  readonly correlationId: string;
  /** Where it happened, for example `procedure "node.rerun"`. */
  readonly where: string;
  /** What was thrown; any value. */
  readonly cause: unknown;
}

/** Returns the refusal to answer with instead of an error, or `undefined` to keep the error masked. */
export type ToRefusal = (error: unknown) => Refusal | undefined;

/** The options of an app and of a live surface about the errors of their handlers. */
export interface FaultOptions {
  readonly onFault?: FaultReporter | undefined;
  readonly toRefusal?: ToRefusal | undefined;
}

/** Receives faults. What it throws, or a promise of it rejects with, is dropped: there is no second log to tell. */
export type FaultReporter = (fault: Fault) => void;

/** Returns the message alone of an application that cannot be reached: a normal condition, whose stack says nothing. */
function toLogged(cause: unknown): string {
  const ours = toOurs(cause);
  if (ours instanceof SurfaceError && ours.code === "UNAVAILABLE") return ours.message;
  return typeof cause === "string" ? cause : inspect(cause);
}

/** Writes a fault to the console's error stream, where it cannot disturb a protocol on stdout. Names and messages may be a caller's. */
export const reportToConsole: FaultReporter = (fault) => {
  // oxlint-disable-next-line no-console -- the default log of a library that has no logger
  console.error(visibleLines(`[surface-mcp] ${fault.correlationId} in ${fault.where}: ${toLogged(fault.cause)}`));
};

/**
 * What may be said of an error that a handler let through from somewhere else: its code, in our words. Its own message
 * may name a member that the caller cannot see.
 */
export const plainWords: Partial<Record<SurfaceErrorCode, string>> = Object.freeze({
  TIMEOUT: "the deadline passed",
  ABORTED: "the call was cancelled",
  CLOSED: "the application behind this is closing",
});

/** The codes of errors that stand for a fault which is logged already. An id on any other was put there by somebody else. */
const loggedCodes: ReadonlySet<SurfaceErrorCode> = new Set(["INTERNAL", "INVALID_OUTPUT", "UNSERIALISABLE"]);

/**
 * Looks after what a piece of the author's code gave back, where nobody waits for it: a promise of it that rejects would
 * end the process. `fail` must not throw.
 */
export function onRejection(answer: unknown, fail: (cause: unknown) => void): void {
  if ((typeof answer !== "object" && typeof answer !== "function") || answer === null) return;
  // By a promise of our own: a thenable may throw when it is looked at.
  new Promise((resolve) => resolve(answer)).catch(fail);
}

/**
 * Runs a piece of the author's code whose answer nobody waits for, such as a listener. `fail` is told what it throws, and what
 * a promise of it rejects with: an asynchronous function may stand where one that returns nothing is asked for. `fail` must
 * not throw.
 */
export function runUnawaited(run: () => unknown, fail: (cause: unknown) => void): void {
  try {
    onRejection(run(), fail);
  } catch (cause) {
    fail(cause);
  }
}

/** Tells the log. A reporter that fails, or a cause that throws when it is printed, must not take the answer's place. */
function tell(report: FaultReporter, fault: Fault): void {
  // There is no second log to tell.
  runUnawaited(
    () => report(fault),
    () => {},
  );
}

/** The reporters made here, each with the `toRefusal` of the app or live surface whose faults it receives. */
const safe = new WeakMap<FaultReporter, ToRefusal | undefined>();

/** Returns a reporter that neither throws nor leaves a rejected promise behind. Idempotent. */
export function toSafeReporter(report: FaultReporter): FaultReporter {
  return safe.has(report) ? report : createReporter({ onFault: report });
}

/**
 * Creates the reporter of an app or a live surface. Its `toRefusal` goes with it to every place where a fault is masked,
 * since those places have the reporter already.
 */
export function createReporter({ onFault = reportToConsole, toRefusal }: FaultOptions): FaultReporter {
  const told: FaultReporter = (fault) => tell(onFault, fault);
  safe.set(told, toRefusal);
  return told;
}

/** Returns a reporter of another target, with the `toRefusal` of the given one. */
export function withTarget(report: FaultReporter, onFault: FaultReporter): FaultReporter {
  return createReporter({ onFault, toRefusal: safe.get(report) });
}

/** Reports a cause and returns the error that stands for it. Never throws. */
export function internalError(cause: unknown, where: string, report: FaultReporter): SurfaceError {
  handleThrown(cause);
  const correlationId = randomUUID();
  tell(report, { correlationId, where, cause });
  return new SurfaceError("INTERNAL", `an internal error occurred; it is logged under ${correlationId}`, {
    correlationId,
    cause,
  });
}

/** Returns a cause that is an error of this package; `undefined` for any other, also for a proxy that throws at `instanceof`. */
export function toOurs(cause: unknown): SurfaceError | Refusal | undefined {
  try {
    return cause instanceof Refusal || cause instanceof SurfaceError ? cause : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Asks the author's `toRefusal` about an error that is not of this package. Returns `undefined` where the error stays masked;
 * a fault of `toRefusal` itself is reported beside it. Never throws.
 */
export function translateFault(cause: unknown, where: string, report: FaultReporter): Refusal | undefined {
  const toRefusal = safe.get(report);
  if (toRefusal === undefined) return undefined;
  try {
    const answer: unknown = toRefusal(cause);
    if (answer === undefined) return undefined;
    if (answer instanceof Refusal) {
      handleThrown(cause);
      return answer;
    }
    handleThrown(answer);
    throw new SurfaceError(
      "INVALID_OUTPUT",
      "Cannot answer with the result of toRefusal: return a Refusal or undefined",
    );
  } catch (fault) {
    internalError(fault, `toRefusal, for an error of ${where}`, report);
    return undefined;
  }
}

/**
 * Turns an error of a handler into one that its caller may see: a `Refusal` as it is, a few of our own codes in plain words, an
 * error that is masked or relayed already as it is, the refusal that the author's `toRefusal` returns, and `INTERNAL` with a
 * correlation id for everything else. Never throws.
 */
export function maskFault(cause: unknown, where: string, report: FaultReporter): SurfaceError | Refusal {
  const ours = toOurs(cause);
  if (ours instanceof Refusal || (ours !== undefined && isRelayed(cause))) return ours;
  if (ours !== undefined) {
    if (ours.correlationId !== undefined && loggedCodes.has(ours.code)) return ours;
    const words = plainWords[ours.code];
    if (words !== undefined) return new SurfaceError(ours.code, words, { cause });
    return internalError(cause, where, report);
  }
  return translateFault(cause, where, report) ?? internalError(cause, where, report);
}

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

const safe = new WeakSet<FaultReporter>();

/** A reporter that neither throws nor leaves a rejected promise behind, whatever the author's does. Idempotent. */
export function toSafeReporter(report: FaultReporter): FaultReporter {
  if (safe.has(report)) return report;
  const told: FaultReporter = (fault) => tell(report, fault);
  safe.add(told);
  return told;
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

/** A cause that is one of ours. A proxy may throw when it is asked what it is; that one is not. */
function toOurs(cause: unknown): SurfaceError | Refusal | undefined {
  try {
    return cause instanceof Refusal || cause instanceof SurfaceError ? cause : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Turns whatever a handler threw into what its caller may see: a `Refusal` as it is, a few of our own codes in plain
 * words, an error that is masked already or told of somebody further up as it is, and `INTERNAL` with a correlation id
 * for everything else. Never throws.
 */
export function maskFault(cause: unknown, where: string, report: FaultReporter): SurfaceError | Refusal {
  const ours = toOurs(cause);
  if (ours instanceof Refusal || (ours !== undefined && isRelayed(cause))) return ours;
  if (ours !== undefined) {
    if (ours.correlationId !== undefined && loggedCodes.has(ours.code)) return ours;
    const words = plainWords[ours.code];
    if (words !== undefined) return new SurfaceError(ours.code, words, { cause });
  }
  return internalError(cause, where, report);
}

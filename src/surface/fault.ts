import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { Refusal, SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import { escapeLogLines } from "../schema/visible-text.ts";
import { handleThrown } from "../spine/handle-thrown.ts";
import { isRelayed } from "./relayed.ts";

/** An error that was withheld from a caller, for the log. */
export interface Fault {
  /** The id that the caller received instead of the cause. */
  readonly correlationId: string;
  /** The place of the error, for example `procedure "node.rerun"`. */
  readonly where: string;
  readonly cause: unknown;
}

/** Returns the refusal to answer with instead of an error, or `undefined` to keep the error masked. */
export type ToRefusal = (error: unknown) => Refusal | undefined;

/** Options for the errors of handlers and sources. */
export interface FaultOptions {
  /** Receives every error that was masked. @default the console's error stream */
  readonly onFault?: FaultReporter | undefined;
  /** Returns the refusal to answer with for an error of your own classes; `undefined` keeps it masked. Gets no errors of this package. */
  readonly toRefusal?: ToRefusal | undefined;
}

/** Receives faults. An error that it throws, or rejects with, is dropped: there is no second log. */
export type FaultReporter = (fault: Fault) => void;

/** Returns the text of a cause for the log: without a stack for an application that cannot be reached, a normal condition. */
function toLogged(cause: unknown): string {
  const ours = asPackageError(cause);
  if (ours instanceof SurfaceError && ours.code === "UNAVAILABLE") return ours.message;
  return typeof cause === "string" ? cause : inspect(cause);
}

/** Writes a fault to stderr, which no protocol uses. Escapes control characters: the text may be a caller's. */
export const reportToConsole: FaultReporter = (fault) => {
  // oxlint-disable-next-line no-console -- the default log of a library that has no logger
  console.error(escapeLogLines(`[surface-mcp] ${fault.correlationId} in ${fault.where}: ${toLogged(fault.cause)}`));
};

/** The messages of uncaught errors of this package, whose own message may name a member that the caller cannot see. */
export const maskedMessages: Partial<Record<SurfaceErrorCode, string>> = Object.freeze({
  TIMEOUT: "the deadline passed",
  ABORTED: "the call was cancelled",
  CLOSED: "the application behind this is closing",
});

/** The codes of errors that stand for a fault in the log. A correlation id on an error with another code is not ours. */
const loggedCodes: ReadonlySet<SurfaceErrorCode> = new Set(["INTERNAL", "INVALID_OUTPUT", "UNSERIALISABLE"]);

/** Passes the rejection of a promise that nothing awaits, which would otherwise end the process, to `fail`, which must not throw. */
export function handleRejection(answer: unknown, fail: (cause: unknown) => void): void {
  if ((typeof answer !== "object" && typeof answer !== "function") || answer === null) return;
  // By a new promise: reading `then` of a thenable may throw.
  new Promise((resolve) => resolve(answer)).catch(fail);
}

/** Runs the author's code without awaiting it. `fail` gets the error that it throws or rejects with, and must not throw. */
export function runUnawaited(run: () => unknown, fail: (cause: unknown) => void): void {
  try {
    handleRejection(run(), fail);
  } catch (cause) {
    fail(cause);
  }
}

/** Calls a reporter, and drops its error: there is no second log. */
function callReporter(report: FaultReporter, fault: Fault): void {
  runUnawaited(
    () => report(fault),
    () => {},
  );
}

const created = new WeakMap<FaultReporter, ToRefusal | undefined>();

/** Returns a reporter that neither throws nor leaves an unhandled rejection. Idempotent. */
export function toSafeReporter(report: FaultReporter): FaultReporter {
  return created.has(report) ? report : createReporter({ onFault: report });
}

/** Creates the reporter of an app or a live surface. It carries `toRefusal` along to every place that masks a fault. */
export function createReporter({ onFault = reportToConsole, toRefusal }: FaultOptions): FaultReporter {
  const report: FaultReporter = (fault) => callReporter(onFault, fault);
  created.set(report, toRefusal);
  return report;
}

/** Returns a reporter of another target, with the `toRefusal` of the given one. */
export function withTarget(report: FaultReporter, onFault: FaultReporter): FaultReporter {
  return createReporter({ onFault, toRefusal: created.get(report) });
}

/** Reports a cause and returns the error that stands for it. Never throws. */
export function internalError(cause: unknown, where: string, report: FaultReporter): SurfaceError {
  handleThrown(cause);
  const correlationId = randomUUID();
  callReporter(report, { correlationId, where, cause });
  return new SurfaceError("INTERNAL", `an internal error occurred; it is logged under ${correlationId}`, {
    correlationId,
    cause,
  });
}

/** Returns the cause if it is an error of this package, else `undefined`. A proxy may throw at `instanceof`. */
export function asPackageError(cause: unknown): SurfaceError | Refusal | undefined {
  try {
    return cause instanceof Refusal || cause instanceof SurfaceError ? cause : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the refusal of the author's `toRefusal` for an error that is not of this package, if any. Reports faults of it. Never throws. */
export function translateFault(cause: unknown, where: string, report: FaultReporter): Refusal | undefined {
  const toRefusal = created.get(report);
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
 * Returns the error that a caller may see for an error of a handler. Never throws.
 *
 * - A `Refusal`, and an error that was masked or relayed before: the same error.
 * - A code of {@link maskedMessages}: the code with that message.
 * - An error for which the author's `toRefusal` returns a refusal: that refusal.
 * - Any other error: `INTERNAL` with a correlation id.
 */
export function maskFault(cause: unknown, where: string, report: FaultReporter): SurfaceError | Refusal {
  const ours = asPackageError(cause);
  if (ours instanceof Refusal || (ours !== undefined && isRelayed(cause))) return ours;
  if (ours !== undefined) {
    if (ours.correlationId !== undefined && loggedCodes.has(ours.code)) return ours;
    const words = maskedMessages[ours.code];
    if (words !== undefined) return new SurfaceError(ours.code, words, { cause });
    return internalError(cause, where, report);
  }
  return translateFault(cause, where, report) ?? internalError(cause, where, report);
}

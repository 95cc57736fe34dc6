import { Refusal, SurfaceError, type Issue, type SurfaceErrorCode } from "../errors.ts";
import { clipText } from "../schema/clip-text.ts";
import type { JsonValue } from "../schema/json.ts";
import { createIssue, maxIssues } from "../schema/render-issues.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import type { Refused } from "./outcome.ts";

const maxCodeBytes = 64;
const maxMessageBytes = 1920;
const maxDetailsLength = 16_384;

/** What {@link toRefused} needs to know of where something was thrown. */
export interface RefusedAt {
  /** Named in the owner's log. */
  readonly where: string;
  readonly report: FaultReporter;
  /** Says that a `VALIDATION_ERROR` is about what the caller sent, and what the value itself is called there. */
  readonly argumentsRoot?: string;
  /** What a `TIMEOUT` says. Default: that the deadline passed. */
  readonly timeoutMessage?: string;
}

/**
 * All that may be said of an error of our own: a sentence by its code, never its message, which may name a member that
 * the caller cannot see. A code that is not listed says nothing at all.
 */
const sentences: Partial<Record<SurfaceErrorCode, string>> = {
  TIMEOUT: "the deadline passed",
  ABORTED: "the call was cancelled",
  CLOSED: "the application behind this is closing",
};

/** The same for codes behind which there is a fault: what the owner's log calls it is said too. */
const faultSentences: Partial<Record<SurfaceErrorCode, string>> = {
  INTERNAL: "an internal error occurred",
  INVALID_OUTPUT: "the answer did not fit its own schema and was withheld",
  UNSERIALISABLE: "the answer could not be written as JSON and was withheld",
};

/** The form of the ids that `internalError()` gives. Any other text in their place was put there by somebody else. */
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Turns whatever was thrown into what its caller may be told: a `Refusal` in its author's words, bounded; the issues of
 * arguments that do not fit; one of our codes with a fixed sentence; `INTERNAL` with a correlation id for everything
 * else. Never throws, whatever it is given.
 */
export function toRefused(cause: unknown, at: RefusedAt): Refused {
  try {
    if (cause instanceof Refusal) return fromRefusal(cause, at);
    if (cause instanceof SurfaceError) return fromSurfaceError(cause, at);
  } catch {
    // A trap or a getter of what was thrown has thrown in its turn: there is nothing to learn from it.
  }
  return faultRefused("INTERNAL", logged(cause, at));
}

function refused(code: string, message: string, more: Partial<Refused> = {}): Refused {
  return { kind: "refused", code, message, issues: [], details: undefined, correlationId: undefined, ...more };
}

function fromSurfaceError(error: SurfaceError, at: RefusedAt): Refused {
  const { code, issues } = error;
  // Issues come with an error that our own validation has thrown, and nothing else makes one without an id.
  if (code === "VALIDATION_ERROR" && at.argumentsRoot !== undefined && error.correlationId === undefined) {
    return refused(code, "the arguments do not fit", { issues: toIssues(issues, at.argumentsRoot) });
  }
  if (code === "TIMEOUT" && at.timeoutMessage !== undefined) return refused(code, at.timeoutMessage);
  const sentence = Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  if (sentence !== undefined) return refused(code, sentence);
  const known = Object.hasOwn(faultSentences, code) ? code : "INTERNAL";
  return faultRefused(known, loggedId(error) ?? logged(error, at));
}

function fromRefusal(refusal: Refusal, at: RefusedAt): Refused {
  const code = clipText(refusal.code, maxCodeBytes);
  const message = clipText(refusal.message, maxMessageBytes);
  const given = refusal.details;
  if (given === undefined) return refused(code, message);
  const details = writeDetails(given);
  if (details !== undefined) return refused(code, message, { details });
  const withheld = new SurfaceError(
    "UNSERIALISABLE",
    `Refusing from ${at.where}: the details must be JSON of at most ${maxDetailsLength} characters and were withheld`,
    { cause: refusal },
  );
  return refused(code, message, { correlationId: logged(withheld, at) });
}

/** Details as inert data; `undefined` where they are too large or no JSON. */
function writeDetails(details: unknown): JsonValue | undefined {
  try {
    const text = anyCodec.stringify(details);
    // What a codec wrote is JSON.
    return text.length > maxDetailsLength ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

function faultRefused(code: SurfaceErrorCode, correlationId: string | undefined): Refused {
  return refused(code, `${faultSentences[code]}; it is logged under ${correlationId}`, { correlationId });
}

function logged(cause: unknown, at: RefusedAt): string | undefined {
  return internalError(cause, at.where, at.report).correlationId;
}

/** The id under which a fault was logged where it happened. */
function loggedId({ correlationId }: SurfaceError): string | undefined {
  return typeof correlationId === "string" && idPattern.test(correlationId) ? correlationId : undefined;
}

/** Issues may come from another process: they are bounded here again. */
function toIssues(issues: readonly Issue[], root: string): readonly Issue[] {
  return issues.slice(0, maxIssues).map(({ path, message }) =>
    createIssue(
      [root, path].filter((part) => part !== ""),
      message,
    ),
  );
}

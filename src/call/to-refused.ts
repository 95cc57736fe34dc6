import { Refusal, SurfaceError, type Issue, type SurfaceErrorCode } from "../errors.ts";
import { clipText } from "../schema/visible-text.ts";
import type { JsonValue } from "../schema/json.ts";
import { createIssue, maxIssues } from "../schema/render-issues.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import { internalError, plainWords, toOurs, translateFault, type FaultReporter } from "../surface/fault.ts";
import { createRefused, type Refused } from "../catalog/outcome.ts";
import { lackingOf, sessionOverWords, unansweredReason, unreachedFault } from "../catalog/own-refusals.ts";

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
  /**
   * Says that it may have changed something by then: `"call"` is one call of a member, sent once or not at all; `"steps"`
   * is a handler of the author's, which may have done half of what it does.
   */
  readonly changes?: "call" | "steps";
  /** Whether the call was ended while it still waited for a connection. @default false */
  readonly isUnsent?: boolean;
  /** The deadline that passed, in milliseconds since 1970. Default: now, for what was too late somewhere else. */
  readonly deadline?: number | undefined;
}

const unknownOutcome = "whether the call took effect is unknown: read the state before you try again";

/**
 * All that may be said of an error of our own: a sentence by its code, never its message, which may name a member that
 * the caller cannot see. A code that is not listed says nothing at all.
 */
const sentences: Partial<Record<SurfaceErrorCode, string>> = {
  ...plainWords,
  DROPPED:
    "the part of the application that this belongs to was dropped and will not answer; the other parts still work",
  OUTCOME_UNKNOWN: `the connection to the application behind this server was lost, and ${unknownOutcome}`,
};

/** The same for codes that say that nothing has happened, so that trying again is safe. */
const retrySentences: Partial<Record<SurfaceErrorCode, string>> = {
  // A read may have been sent several times, and its answer lost each time.
  UNAVAILABLE:
    "the application behind this server cannot be reached right now; this server is still running: try again shortly",
  DISCONNECTED:
    "the connection to the application behind this server was lost before the answer; this server is still running: try again shortly",
  OVERFLOW: "too much is in use at once and this was not begun: try again shortly",
};

/** The same for a call that may change something, and was not sent. */
const unsentSentences: Partial<Record<SurfaceErrorCode, string>> = {
  UNAVAILABLE:
    "the application behind this server cannot be reached right now and nothing was sent; this server is still running: try again shortly",
  TIMEOUT:
    "the deadline passed before the application behind this server could be reached, and nothing was sent: try again shortly",
};

/** What is said instead where something may have happened all the same. */
const unsafeSentences: Partial<Record<SurfaceErrorCode, string>> = {
  TIMEOUT: `the deadline passed, and ${unknownOutcome}`,
  UNAVAILABLE: `the application behind this server cannot be reached right now, and ${unknownOutcome}`,
  DISCONNECTED: `the connection to the application behind this server was lost, and ${unknownOutcome}`,
  OVERFLOW: `too much is in use at once, and ${unknownOutcome}`,
  DROPPED: `a part of the application that this needs was dropped, and ${unknownOutcome}`,
  CLOSED: `the application behind this is closing, and ${unknownOutcome}`,
};

/** The same for codes behind which there is a fault: what the owner's log calls it is said too. */
const faultSentences: Partial<Record<SurfaceErrorCode, string>> = {
  INTERNAL: "an internal error occurred",
  INVALID_OUTPUT: "the answer did not pass its own schema and was withheld",
  UNSERIALISABLE: "the answer could not be written as JSON and was withheld",
  CONTRACT_MISMATCH: "the application behind this server is of another version, in which this is not the same",
  PROTOCOL_MISMATCH: "the application behind this server is of another version, with which this server cannot speak",
  FRAME_TOO_LARGE: "what was to be sent is larger than is allowed",
};

/** The form of the ids that `internalError()` gives. Any other text in their place was put there by somebody else. */
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Turns a thrown value into the refusal of a call: a `Refusal` in its author's words, bounded, also one that `toRefusal`
 * returns; the issues of arguments that do not fit; one of our codes with a fixed sentence; `INTERNAL` with a correlation id
 * for everything else. Never throws.
 */
export function toRefused(cause: unknown, at: RefusedAt): Refused {
  try {
    const shown = toOurs(cause) ?? translateFault(cause, at.where, at.report);
    const vain = shown instanceof Refusal ? unreachedFault(shown) : undefined;
    if (vain !== undefined) return fromSurfaceError(vain, at);
    if (shown instanceof Refusal) return fromRefusal(shown, at);
    if (shown !== undefined) return toUnansweredRefusal(shown, at) ?? fromSurfaceError(shown, at);
  } catch {
    // A trap or a getter of what was thrown has thrown in its turn: there is nothing to learn from it.
  }
  return faultRefused("INTERNAL", logged(cause, at));
}

/** What is said besides of what was too late: when it had to be there. */
function toLate(code: SurfaceErrorCode, { deadline = Date.now() }: RefusedAt): Partial<Refused> {
  return code === "TIMEOUT" ? { details: { deadline } } : {};
}

/** A code may be any text: it may come from another process. */
function own(words: Partial<Record<SurfaceErrorCode, string>>, code: SurfaceErrorCode): string | undefined {
  return Object.hasOwn(words, code) ? words[code] : undefined;
}

/** The codes of a call that was not begun, and so changed nothing. */
const unbegun: ReadonlySet<SurfaceErrorCode> = new Set(["UNAVAILABLE", "OVERFLOW", "DROPPED"]);

function unsentSentenceOf(code: SurfaceErrorCode, { changes, isUnsent }: RefusedAt): string | undefined {
  const wasUnsent = isUnsent === true || (changes === "call" && code === "UNAVAILABLE");
  return wasUnsent ? own(unsentSentences, code) : undefined;
}

/** Returns the sentence for an error that is no fault, and after which a retry may not be safe. */
function sentenceOf(error: SurfaceError, { changes }: RefusedAt): string | undefined {
  const { code } = error;
  const over = sessionOverWords(error);
  // A member asks nobody, so a single call was not made.
  if (over !== undefined) return changes === "steps" ? `${over}, and ${unknownOutcome}` : over;
  const isUnsafe = changes === "steps" || (changes === "call" && !unbegun.has(code));
  return (isUnsafe ? own(unsafeSentences, code) : undefined) ?? own(sentences, code);
}

/** Refuses a call whose deadline passed while its client had a question open; `undefined` for any other error. */
function toUnansweredRefusal(error: SurfaceError, at: RefusedAt): Refused | undefined {
  const unanswered = unansweredReason(error);
  if (unanswered === undefined) return undefined;
  const effect = at.changes === "steps" ? `, and ${unknownOutcome}` : "";
  return createRefused("TIMEOUT", `the deadline passed: ${unanswered}${effect}`, {
    ...toLate("TIMEOUT", at),
    unanswered,
  });
}

function fromSurfaceError(error: SurfaceError, at: RefusedAt): Refused {
  const { code, issues } = error;
  // Issues come with an error that our own validation has thrown, and nothing else makes one without an id.
  if (code === "VALIDATION_ERROR" && at.argumentsRoot !== undefined && error.correlationId === undefined) {
    return createRefused(code, "the arguments do not fit", { issues: toIssues(issues, at.argumentsRoot) });
  }
  const unsent = unsentSentenceOf(code, at);
  if (unsent !== undefined) return createRefused(code, unsent, { ...toLate(code, at), retryable: true });
  const sentence = sentenceOf(error, at);
  if (sentence !== undefined) return createRefused(code, sentence, toLate(code, at));
  const retry = own(retrySentences, code);
  if (retry !== undefined) return createRefused(code, retry, { retryable: true });
  const known = own(faultSentences, code) === undefined ? "INTERNAL" : code;
  return faultRefused(known, loggedId(error) ?? logged(error, at));
}

function fromRefusal(refusal: Refusal, at: RefusedAt): Refused {
  const code = clipText(refusal.code, maxCodeBytes);
  const message = clipText(refusal.message, maxMessageBytes);
  const given = refusal.details;
  if (given === undefined) return createRefused(code, message);
  const details = writeDetails(given);
  const requiredCapabilities = lackingOf(refusal);
  if (requiredCapabilities !== undefined) return createRefused(code, message, { details, requiredCapabilities });
  if (details !== undefined) return createRefused(code, message, { details });
  const withheld = new SurfaceError(
    "UNSERIALISABLE",
    `Refusing from ${at.where}: the details must be JSON of at most ${maxDetailsLength} characters and were withheld`,
    { cause: refusal },
  );
  return createRefused(code, message, { correlationId: logged(withheld, at) });
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
  return createRefused(code, `${faultSentences[code]}; it is logged under ${correlationId}`, { correlationId });
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

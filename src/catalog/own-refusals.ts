import { Refusal, SurfaceError, type Issue } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import type { AskKind } from "./asking/asking.ts";
import type { ErrorResult } from "./outcome.ts";
import type { EntryCall } from "./entry.ts";

/** Facts about an error that was created here. */
interface OwnFacts {
  /** The capabilities that the client lacks. */
  readonly requiredCapabilities?: JsonObject;
  /** The sentence for the caller of a question to a client whose session ends. */
  readonly sessionEnded?: string;
  /** The question that was open when the deadline passed, and the time for which it was open. */
  readonly unanswered?: string;
  /** The problems of the arguments, which a parser of the application has found. */
  readonly issues?: readonly Issue[];
  /** Set if nothing has happened, so that the caller may try again shortly. */
  readonly retryable?: true;
  /** Set for the refusal of a nested call that could not be made. */
  readonly unreached?: Pick<ErrorResult, "correlationId">;
}

// Authors and links may throw errors with the same codes, but no error of theirs is in here.
const facts = new WeakMap<Error, OwnFacts>();
const noFacts: OwnFacts = {};

function withFacts<TError extends Error>(error: TError, own: OwnFacts): TError {
  facts.set(error, own);
  return error;
}

/** Returns the facts about an error; none about an error that was not created here. */
export function ownFactsOf(error: Error): OwnFacts {
  return facts.get(error) ?? noFacts;
}

/** The capabilities that a client must declare, by the kind of question. */
const capabilities: Readonly<Record<AskKind, JsonObject>> = Object.freeze({
  elicit: Object.freeze({ elicitation: Object.freeze({ form: Object.freeze({}) }) }),
  sample: Object.freeze({ sampling: {} }),
  roots: Object.freeze({ roots: {} }),
});

/** Creates the `CLIENT_CANNOT` of a question to a client that lacks these capabilities. */
export function createClientCannot(requiredCapabilities: JsonObject): Refusal {
  const names = Object.keys(requiredCapabilities).map((name) =>
    name === "elicitation" ? "elicitation by form" : name,
  );
  const message = `the client of this call does not support ${names.join(", ")}`;
  return withFacts(new Refusal("CLIENT_CANNOT", message, { requiredCapabilities }), { requiredCapabilities });
}

/** Creates the `CLIENT_CANNOT` of a question of this kind. */
export function cannotBeAsked(kind: AskKind): Refusal {
  return createClientCannot(capabilities[kind]);
}

const sessionOverText = "the session of the client is ending, and cannot take questions any more";

/** Creates the `DISCONNECTED` of a question to a client whose session ends. The connection to the application is intact. */
export function createSessionEndedError(): SurfaceError {
  const error = new SurfaceError("DISCONNECTED", `Asking the client: ${sessionOverText}`);
  return withFacts(error, { sessionEnded: sessionOverText });
}

/** Creates the error again from the outcome of a nested call; `undefined` for another outcome. */
export function restoreSessionEndedError(code: string, message: string): SurfaceError | undefined {
  return code === "DISCONNECTED" && message.startsWith(sessionOverText) ? createSessionEndedError() : undefined;
}

/** Creates the `TIMEOUT` of a call whose deadline passed while its client had a question open. The caller reads the reason. */
export function createUnansweredError(reason: string): SurfaceError {
  return withFacts(new SurfaceError("TIMEOUT", `the deadline passed: ${reason}`), { unanswered: reason });
}

/** Creates a refusal after which a retry is safe. */
export function createRetryable(code: string, message: string, details?: JsonObject): Refusal {
  return withFacts(new Refusal(code, message, details), { retryable: true });
}

/** Creates the refusal that a handler gets when it calls a tool that it may not call, or that does not exist. */
export function createUnreachedError({ code, message, details, correlationId }: ErrorResult): Refusal {
  return withFacts(new Refusal(code, message, details), { unreached: { correlationId } });
}

/**
 * Creates the error of a handler that rethrows what {@link createUnreachedError} created; `undefined` for another refusal. Its caller must
 * not get the refusal itself, which would say that the handler's own tool does not exist.
 */
export function unreachedFault(refusal: Refusal): SurfaceError | undefined {
  const found = ownFactsOf(refusal).unreached;
  if (found === undefined) return undefined;
  const { correlationId } = found;
  return new SurfaceError("INTERNAL", "Cannot call a tool from another: it does not exist, or is out of reach", {
    ...(correlationId === undefined ? {} : { correlationId }),
    cause: refusal,
  });
}

/** Creates the `VALIDATION_ERROR` of arguments that a parser of the application has refused. Paths are those of the arguments. */
export function createInvalidInput(issues: readonly Issue[]): Refusal {
  return withFacts(new Refusal("VALIDATION_ERROR", "the arguments do not fit"), { issues });
}

/** The methods of a call without a client. */
export const cannotAsk: Pick<EntryCall, "ask" | "onRoots" | "addMeta"> = Object.freeze({
  ask: () => Promise.reject(new Refusal("CLIENT_CANNOT", "there is no client to ask")),
  onRoots: () => () => {},
  addMeta: () => {},
});

import { Refusal, SurfaceError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import type { AskKind } from "./asking/asking.ts";
import type { ErrorResult } from "./outcome.ts";
import type { EntryCall } from "./entry.ts";

// Authors and links may throw errors with the same codes. Only an error that was created here is in one of these.
const lackingCapabilities = new WeakMap<Refusal, JsonObject>();
const sessionOverErrors = new WeakSet<SurfaceError>();
const unansweredReasons = new WeakMap<SurfaceError, string>();
const unreachedRefusals = new WeakMap<Refusal, Pick<ErrorResult, "correlationId">>();

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
  const refusal = new Refusal("CLIENT_CANNOT", message, { requiredCapabilities });
  lackingCapabilities.set(refusal, requiredCapabilities);
  return refusal;
}

/** Creates the `CLIENT_CANNOT` of a question of this kind. */
export function cannotBeAsked(kind: AskKind): Refusal {
  return createClientCannot(capabilities[kind]);
}

/** Returns the capabilities that the client lacks; `undefined` for a refusal that {@link createClientCannot} did not create. */
export function missingCapabilitiesOf(refusal: Refusal): JsonObject | undefined {
  return lackingCapabilities.get(refusal);
}

const sessionOverText = "the session of the client is ending, and cannot take questions any more";

/** Creates the `DISCONNECTED` of a question to a client whose session ends. The connection to the application is intact. */
export function createSessionEndedError(): SurfaceError {
  const error = new SurfaceError("DISCONNECTED", `Asking the client: ${sessionOverText}`);
  sessionOverErrors.add(error);
  return error;
}

/** Returns the message for the caller; `undefined` for an error that {@link createSessionEndedError} did not create. */
export function sessionEndedMessage(error: SurfaceError): string | undefined {
  return sessionOverErrors.has(error) ? sessionOverText : undefined;
}

/** Creates the error again from the outcome of a nested call; `undefined` for another outcome. */
export function restoreSessionEndedError(code: string, message: string): SurfaceError | undefined {
  return code === "DISCONNECTED" && message.startsWith(sessionOverText) ? createSessionEndedError() : undefined;
}

/**
 * Creates the `TIMEOUT` of a call whose deadline passed while its client had a question open.
 *
 * @param reason - the question and the time for which it was open, for the caller to read.
 */
export function createUnansweredError(reason: string): SurfaceError {
  const error = new SurfaceError("TIMEOUT", `the deadline passed: ${reason}`);
  unansweredReasons.set(error, reason);
  return error;
}

/** Returns the reason; `undefined` for an error that {@link createUnansweredError} did not create. */
export function unansweredReason(error: SurfaceError): string | undefined {
  return unansweredReasons.get(error);
}

/** Creates the refusal that a handler gets when it calls a tool that it may not call, or that does not exist. */
export function createUnreachedError({ code, message, details, correlationId }: ErrorResult): Refusal {
  const refusal = new Refusal(code, message, details);
  unreachedRefusals.set(refusal, { correlationId });
  return refusal;
}

/**
 * Creates the error of a handler that rethrows what {@link createUnreachedError} created; `undefined` for another refusal. Its caller must
 * not get the refusal itself, which would say that the handler's own tool does not exist.
 */
export function unreachedFault(refusal: Refusal): SurfaceError | undefined {
  const found = unreachedRefusals.get(refusal);
  if (found === undefined) return undefined;
  const { correlationId } = found;
  return new SurfaceError("INTERNAL", "Cannot call a tool from another: it does not exist, or is out of reach", {
    ...(correlationId === undefined ? {} : { correlationId }),
    cause: refusal,
  });
}

/** The methods of a call without a client. */
export const cannotAsk: Pick<EntryCall, "ask" | "onRoots" | "addMeta"> = Object.freeze({
  ask: () => Promise.reject(new Refusal("CLIENT_CANNOT", "there is no client to ask")),
  onRoots: () => () => {},
  addMeta: () => {},
});

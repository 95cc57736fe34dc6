import type { Issue } from "../errors.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import type { Asking } from "./asking/asking.ts";
import type { NestedCall } from "./entry.ts";

/** What a caller is told of a call or read that did not give an answer. Safe to show as it is. */
export interface Refused {
  readonly kind: "refused";
  /** A code of this package, or the author's own; at most 64 bytes. */
  readonly code: string;
  /** One line; at most 1,920 bytes, so that it reads whole within the 2 KiB that a model is shown. */
  readonly message: string;
  /** At most 5. Paths are those of the wire: a value that travels under `value` is named by it. */
  readonly issues: readonly Issue[];
  /** The author's details; left out when they are no JSON, or more than 16 KiB of it. */
  readonly details: JsonValue | undefined;
  /** Names the log entry that holds what was kept from the caller. */
  readonly correlationId: string | undefined;
  /** Nothing has happened: the same may be tried again shortly. */
  readonly retryable?: true;
  /** What its client would have to say that it can do; only ever said by the package itself, of questions it did not ask. */
  readonly requiredCapabilities?: JsonObject;
  /** The question that was open when the deadline passed, as `unansweredReason()` says it. */
  readonly unanswered?: string;
}

/** Creates a refusal. */
export function createRefused(code: string, message: string, more: Partial<Refused> = {}): Refused {
  return { kind: "refused", code, message, issues: [], details: undefined, correlationId: undefined, ...more };
}

/** The caller was not granted what this takes. Nothing has happened. */
export interface Denied {
  readonly kind: "denied";
  /**
   * All that it takes, so that one more consent is enough; `undefined` where no consent would help: then it is answered as
   * what does not exist.
   */
  readonly scopes: readonly string[] | undefined;
}

/** What came of a tool call. */
export type ToolOutcome =
  | {
      readonly kind: "answer";
      /** The text of a JSON object. */
      readonly text: string;
      /** The answer itself where it is a string: `content` has it as plain text, and {@link text} has it under `value`. */
      readonly plain?: string;
      /** It says that what was asked for has failed; told as an error that says all the same. */
      readonly isError?: true;
    }
  | {
      /** What its author made by `content()`. */
      readonly kind: "rich";
      /** The text of a JSON array of content blocks. */
      readonly blocks: string;
      /** The text of a JSON object that says the same to programs; left out where its author gave none. */
      readonly structured: string | undefined;
      /** It says that what was asked for has failed; told as an error that says all the same. */
      readonly isError?: true;
    }
  | Asking
  | Denied
  | Refused;

/** What is told of a tool that does not exist, or that is not there for whoever asks: one for both. */
export const operationNotFound: Refused = Object.freeze(
  createRefused("OPERATION_NOT_FOUND", "there is no operation of this name"),
);

/** Where nothing can be called from: whatever it is, it is not there. */
export function cannotNest(_nested: NestedCall): Promise<ToolOutcome> {
  return Promise.resolve(operationNotFound);
}

/** Questions end the call that a host made, and all within it: nobody reads this. */
export const inputRequired: Refused = Object.freeze(
  createRefused("INPUT_REQUIRED", "the client is asked something first"),
);

/**
 * What a call within a call comes to, as programs are told: the JSON text of its result, which is its blocks where nothing is
 * said to programs besides, or what it was refused. What its caller was denied does not exist.
 */
export function toResultText(outcome: ToolOutcome): string | Refused {
  switch (outcome.kind) {
    case "answer":
      return outcome.text;
    case "rich":
      return outcome.structured ?? outcome.blocks;
    case "denied":
      return operationNotFound;
    case "refused":
      return outcome;
    case "asking":
      return inputRequired;
  }
}

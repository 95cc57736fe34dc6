import { Refusal, SurfaceError, type Issue } from "../errors.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import type { Asking } from "./asking/asking.ts";
import type { NestedCall } from "./entry.ts";

/** The error of a call or read, as its caller sees it. */
export interface ErrorResult {
  readonly kind: "refused";
  /** A code of this package, or the author's own; at most 64 bytes. */
  readonly code: string;
  /** One line; at most 1,920 bytes, so that it fits into the 2 KiB that a host shows to the model. */
  readonly message: string;
  /** At most 5. Paths are those of the arguments: a value that travels under `value` is named by it. */
  readonly issues: readonly Issue[];
  /** The author's details; left out if they are not JSON, or more than 16 KiB of it. */
  readonly details: JsonValue | undefined;
  /** Identifies the log entry of a masked error. */
  readonly correlationId: string | undefined;
  /** Set if nothing has happened, so that the caller may try again shortly. */
  readonly retryable?: true;
  /** The capabilities that the client lacks for a question of this package. */
  readonly requiredCapabilities?: JsonObject;
  /** The question that was open when the deadline passed, as `ownFactsOf()` returns it. */
  readonly unanswered?: string;
}

/** Creates a refusal. */
export function createErrorResult(code: string, message: string, more: Partial<ErrorResult> = {}): ErrorResult {
  return { kind: "refused", code, message, issues: [], details: undefined, correlationId: undefined, ...more };
}

/** A call that its caller has no right to. Nothing has happened. */
export interface Denied {
  readonly kind: "denied";
  /** All required scopes, so that one more consent is enough; `undefined` if consent cannot help: the caller then gets "not found". */
  readonly scopes: readonly string[] | undefined;
}

/** The outcome of a tool call. */
export type ToolOutcome =
  | {
      readonly kind: "answer";
      /** The text of a JSON object. */
      readonly text: string;
      /** The result itself if it is a string: `content` has it as plain text, and {@link text} has it under `value`. */
      readonly plain?: string;
      /** Set if the result reports a failure. */
      readonly isError?: true;
    }
  | {
      /** A result of `content()`. */
      readonly kind: "rich";
      /** The text of a JSON array of content blocks. */
      readonly blocks: string;
      /** The text of `structuredContent`; `undefined` without one. */
      readonly structured: string | undefined;
      /** Set if the result reports a failure. */
      readonly isError?: true;
    }
  | Asking
  | Denied
  | ErrorResult;

/** The refusal of a tool that does not exist, or that the caller may not see: the same for both. */
export const operationNotFound: ErrorResult = Object.freeze(
  createErrorResult("OPERATION_NOT_FOUND", "there is no operation of this name"),
);

/** Creates the same as an error. */
export function createNotFound(): Refusal {
  return new Refusal(operationNotFound.code, operationNotFound.message);
}

/** Rejects a nested call where none can be made, as if the tool did not exist. */
export function rejectNestedCall(_nested: NestedCall): Promise<ToolOutcome> {
  return Promise.resolve(operationNotFound);
}

/** The refusal of a nested call that asks the client. The question ends the outer call, too, so no caller reads this text. */
export const inputRequired: ErrorResult = Object.freeze(
  createErrorResult("INPUT_REQUIRED", "the client must answer a question first"),
);

/**
 * Returns the result of a nested call: the JSON text of its `structuredContent`, or of its blocks if it has none; or its refusal.
 * A denied call is refused like one of a tool that does not exist.
 */
export function toResultText(outcome: ToolOutcome): string | ErrorResult {
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

/** Returns whether a read failed because the resource is absent, or because no resource can have such variables. Never throws. */
export function isAbsent(cause: unknown): boolean {
  try {
    return cause instanceof SurfaceError && (cause.code === "ABSENT" || cause.code === "VALIDATION_ERROR");
  } catch {
    // A trap of the thrown value.
    return false;
  }
}

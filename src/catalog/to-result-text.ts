import { operationNotFound } from "./cannot-nest.ts";
import { createRefused, type Refused, type ToolOutcome } from "./outcome.ts";

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

import type { NestedCall } from "./entry.ts";
import type { Refused, ToolOutcome } from "./outcome.ts";

/** What is told of a tool that does not exist, or that is not there for whoever asks: one for both. */
export const operationNotFound: Refused = Object.freeze({
  kind: "refused",
  code: "OPERATION_NOT_FOUND",
  message: "there is no operation of this name",
  issues: Object.freeze([]),
  details: undefined,
  correlationId: undefined,
});

/** Where nothing can be called from: whatever it is, it is not there. */
export function cannotNest(_nested: NestedCall): Promise<ToolOutcome> {
  return Promise.resolve(operationNotFound);
}

import type { NestedCall } from "./entry.ts";
import { createRefused, type Refused, type ToolOutcome } from "./outcome.ts";

/** What is told of a tool that does not exist, or that is not there for whoever asks: one for both. */
export const operationNotFound: Refused = Object.freeze(
  createRefused("OPERATION_NOT_FOUND", "there is no operation of this name"),
);

/** Where nothing can be called from: whatever it is, it is not there. */
export function cannotNest(_nested: NestedCall): Promise<ToolOutcome> {
  return Promise.resolve(operationNotFound);
}

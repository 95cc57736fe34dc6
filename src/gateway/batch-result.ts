import type { Refused, ToolOutcome } from "../catalog/outcome.ts";
import { toResultText } from "../catalog/to-result-text.ts";

/** What became of one call of a batch. */
export interface BatchResult {
  readonly isError: boolean;
  /** The JSON text of what is said of it. */
  readonly text: string;
}

function toFailure({ code, message, issues, details }: Refused): BatchResult {
  const more = issues.length === 0 ? details : issues;
  const error = { code, message, ...(more === undefined ? {} : { details: more }) };
  return { isError: true, text: JSON.stringify({ success: false, error }) };
}

function toSuccess(result: string): BatchResult {
  return { isError: false, text: `{"success":true,"result":${result}}` };
}

/**
 * What is said of a call within a batch: the same as is said of the call alone, to programs. What it was denied is answered as
 * what does not exist.
 */
export function toBatchResult(outcome: ToolOutcome): BatchResult {
  const result = toResultText(outcome);
  return typeof result === "string" ? toSuccess(result) : toFailure(result);
}

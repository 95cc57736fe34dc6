import type { Refused } from "../catalog/outcome.ts";
import { renderIssues } from "../schema/render-issues.ts";

/** Where the machine-readable form of a refusal stands in a result's `_meta`. */
export const errorMetaKey = "surface-mcp/error";

const maxTextBytes = 2048;
const encoder = new TextEncoder();

/** What a model reads of a refusal: the code, a sentence, and what is wrong, at most 2 KiB of UTF-8. */
export function refusalText(refused: Refused): string {
  const issues = refused.issues.length === 0 ? "" : `\n${renderIssues(refused.issues)}`;
  const text = `${refused.code}: ${refused.message}${issues}`;
  // A UTF-16 unit is at most 3 bytes.
  if (text.length * 3 <= maxTextBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxTextBytes) return text;
  // A decoder that expects more leaves out the character that the cut went through; "…" takes 3 bytes.
  return `${new TextDecoder().decode(bytes.subarray(0, maxTextBytes - 3), { stream: true })}…`;
}

/** What a program reads of a refusal. */
export function refusalData(refused: Refused): object {
  return {
    code: refused.code,
    message: refused.message,
    ...(refused.issues.length === 0 ? {} : { issues: refused.issues }),
    ...(refused.details === undefined ? {} : { details: refused.details }),
    ...(refused.correlationId === undefined ? {} : { correlationId: refused.correlationId }),
    ...(refused.retryable === true ? { retryable: true } : {}),
  };
}

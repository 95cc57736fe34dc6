import type { Refused } from "../call/outcome.ts";
import { renderIssues } from "../schema/render-issues.ts";
import { anyCodec } from "../schema/wire-codec.ts";

/** Where the machine-readable form of a refusal stands in a result's `_meta`. */
export const errorMetaKey = "surface-mcp/error";

const maxTextLength = 2048;

/** What a model reads of a refusal: the code, a sentence, and what is wrong, at most 2 KiB. */
export function refusalText(refused: Refused, root = ""): string {
  const issues = refused.issues.length === 0 ? "" : `\n${renderIssues(refused.issues, root)}`;
  const text = `${refused.code}: ${refused.message}${issues}`;
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength - 1)}…`;
}

function writeDetails(details: unknown): unknown {
  try {
    return anyCodec.encode(details);
  } catch {
    // An author's details that are no JSON are left out: the code and the message still say what happened.
    return undefined;
  }
}

/** What a program reads of a refusal. */
export function refusalData(refused: Refused): object {
  const details = refused.details === undefined ? undefined : writeDetails(refused.details);
  return {
    code: refused.code,
    message: refused.message,
    ...(refused.issues.length === 0 ? {} : { issues: refused.issues }),
    ...(details === undefined ? {} : { details }),
    ...(refused.correlationId === undefined ? {} : { correlationId: refused.correlationId }),
  };
}

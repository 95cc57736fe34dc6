import type { Effect } from "../tags/symbols.ts";
import type { ToolOptions } from "../tags/tool-options.ts";
import type { ToolHints } from "./entry.ts";

/**
 * The four hints of a tool. What the author did not say is assumed to be the worse: it mutates, and what it does is
 * hard to undo.
 */
export function toToolHints(effect: Effect, options: ToolOptions): ToolHints {
  const mutates = options.mutates ?? effect !== "read";
  return Object.freeze({
    readOnlyHint: !mutates,
    // Beside read-only it would say nothing: the protocol gives it a meaning for tools that mutate.
    destructiveHint: mutates && options.destructive !== false,
    idempotentHint: options.idempotent ?? !mutates,
    openWorldHint: options.openWorld ?? false,
  });
}

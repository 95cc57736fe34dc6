import type { ToolOutcome } from "../catalog/outcome.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";

/** The outcome of a nested call, and its `_meta`. */
export interface Remembered {
  readonly outcome: ToolOutcome;
  readonly meta: JsonObject | undefined;
}

const kinds: ReadonlySet<unknown> = new Set(["answer", "rich", "refused", "denied"]);

/** The same as JSON, to be handed back. */
export function toRememberedJson({ outcome, meta }: Remembered): JsonObject {
  // The handler that made the call reads the JSON of an answer: the plain text would take room in a bounded record.
  const kept = outcome.kind === "answer" ? { ...outcome, plain: undefined } : outcome;
  // Outcomes are JSON, but for what is left out.
  return JSON.parse(JSON.stringify({ outcome: kept, meta })) as JsonObject;
}

/** What {@link toRememberedJson} made; `undefined` for what something else has made. */
export function readRemembered({ outcome, meta }: JsonObject): Remembered | undefined {
  if (!isJsonObject(outcome) || !kinds.has(outcome["kind"])) return undefined;
  const absent = { details: undefined, correlationId: undefined, structured: undefined, scopes: undefined };
  return {
    // It is one of ours, which came back sealed.
    outcome: { ...absent, ...outcome } as unknown as ToolOutcome,
    meta: isJsonObject(meta) ? meta : undefined,
  };
}

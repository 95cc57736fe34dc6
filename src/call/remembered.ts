import type { Touched } from "../catalog/entry.ts";
import type { ToolOutcome } from "../catalog/outcome.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";

/** What came of a call within a call, and what it has said and touched besides. */
export interface Remembered {
  readonly outcome: ToolOutcome;
  readonly touched: readonly Touched[];
  readonly meta: JsonObject | undefined;
}

const kinds: ReadonlySet<unknown> = new Set(["answer", "rich", "refused", "denied"]);

/** The same as JSON, to be handed back. */
export function toRememberedJson({ outcome, touched, meta }: Remembered): JsonObject {
  // Outcomes are JSON, but for what is left out.
  return JSON.parse(JSON.stringify({ outcome, touched, meta })) as JsonObject;
}

/** What {@link toRememberedJson} made; `undefined` for what something else has made. */
export function readRemembered({ outcome, touched, meta }: JsonObject): Remembered | undefined {
  if (!isJsonObject(outcome) || !kinds.has(outcome["kind"]) || !Array.isArray(touched)) return undefined;
  const absent = { details: undefined, correlationId: undefined, structured: undefined, scopes: undefined };
  return {
    // It is one of ours, which came back sealed.
    outcome: { ...absent, ...outcome } as unknown as ToolOutcome,
    // As above.
    touched: touched as unknown as readonly Touched[],
    meta: isJsonObject(meta) ? meta : undefined,
  };
}

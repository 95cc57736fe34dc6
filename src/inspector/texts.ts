import type { ObservedOperation } from "../observe/observation.ts";
import type { JsonValue } from "../schema/json.ts";
import { clipText } from "../schema/visible-text.ts";
import type { Cut } from "./messages.ts";

/** Bytes of a name: of a tool, caller, client, view or code. */
const maxNameBytes = 256;

/** Returns a name from outside, as the page may show it. */
export function toName(text: string): string {
  return clipText(text, maxNameBytes);
}

/** Returns a name that may be absent. */
export function toNameIf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toName(text);
}

/** Returns the name that agents use for a tool or prompt, or the id of a resource. */
export function toShownName(operation: ObservedOperation | undefined): string | undefined {
  return operation && toName(operation.name ?? operation.id);
}

/** A value within a bound, and the length of its JSON. */
export interface BoundValue {
  readonly value: JsonValue;
  readonly length: number;
}

/** Returns a value if its JSON has at most `max` characters; else the begin of the JSON as a text. */
export function toBoundValue(value: JsonValue, max: number): BoundValue {
  const text = JSON.stringify(value);
  return text.length <= max ? { value, length: text.length } : { value: clipText(text, max), length: max };
}

/** Returns the first rows of a list, and the number of the others. */
export function cut<TRow>(rows: readonly TRow[], max: number): Cut<TRow> {
  return { rows: rows.slice(0, max), more: Math.max(0, rows.length - max) };
}

import type { Taggable } from "./symbols.ts";

/** A member's kind with its article, for a sentence: `a cell`, `an event`. */
export function nameKind({ kind }: Taggable): string {
  return `${kind === "event" ? "an" : "a"} ${kind}`;
}

import type { Caller } from "../surface/caller.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { SurfaceError } from "../errors.ts";
import { clipText } from "../schema/clip-text.ts";

const maxIdBytes = 128;

/** A call of a tool by another that came to nothing. */
export interface VainCall {
  /** What it was called by. */
  readonly id: string;
  /** The tool that called. */
  readonly by: ToolEntry;
  /** Why, as the rest of a sentence. */
  readonly why: string;
}

/** Why a tool was not there for another, for the author's log alone: whoever called the other may not know of either. */
export function toVainCall({ id, by, why }: VainCall): SurfaceError {
  return new SurfaceError("NOT_FOUND", `Calling ${JSON.stringify(clipText(id, maxIdBytes))} from ${by.origin}: ${why}`);
}

export const noSuchTool = "there is no tool of this id or name";

function quote(texts: readonly string[]): string {
  return texts.length === 0 ? "nothing" : texts.map((text) => `"${text}"`).join(", ");
}

/** Why what a tool may call does not come to an entry. */
export function outOfReach({ id }: ToolEntry, { reach = [] }: ToolEntry): string {
  return `its "reach" must have a pattern that fits "${id}", and has ${quote(reach)}`;
}

/** Why the authority that a tool calls with is not enough for an entry. */
export function lacksAuthority({ scopes, requires }: ToolEntry, agent: Caller): string {
  if (requires?.resource !== undefined) {
    return `it takes a right to ${requires.resource.type}, which callers have themselves and no tool has for them`;
  }
  const { scopesAny = [] } = requires ?? {};
  const anyOf = scopesAny.length === 0 ? "" : `${scopes.length === 0 ? "" : " and "}one of ${quote(scopesAny)}`;
  const all = scopes.length === 0 && anyOf !== "" ? "" : quote(scopes);
  return `its "authority" must have ${all}${anyOf}, and has ${quote(agent.scopes)}`;
}

import { SurfaceError } from "../errors.ts";
import { kEffect, kExposure, kTagOptions, type Effect, type Exposure, type Taggable } from "./symbols.ts";
import type { TagOptions } from "./tool-options.ts";

/** A member's tags, read back. */
export interface Tag {
  readonly exposure: Exposure;
  readonly effect: Effect;
  readonly options: TagOptions;
}

const exposures: ReadonlySet<unknown> = new Set<Exposure>(["none", "resource", "tool"]);
const effects: ReadonlySet<unknown> = new Set<Effect>(["unstated", "read", "mutates"]);

/**
 * Reads a member's tags. A value that this version does not know is refused: what is not understood must not be taken
 * for an exposure, nor for "it only reads".
 *
 * @throws SurfaceError `INVALID_MEMBER` for tags that another version, or nobody, has written.
 */
export function tagOf(member: Taggable & { readonly [kTagOptions]?: TagOptions }): Tag {
  const { [kExposure]: exposure, [kEffect]: effect = "unstated", [kTagOptions]: options = {} } = member;
  if (exposures.has(exposure) && effects.has(effect)) return { exposure, effect, options };
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Reading the tags of a ${member.kind}: they are not of this version of the package; build and tag it with this one`,
  );
}

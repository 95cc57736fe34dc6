import { SurfaceError } from "../errors.ts";
import type { TagOptions } from "./tool-options.ts";

// The symbols of tags are registered globally, so that two copies of this package in one process read all of each other's tags.
/** The property with the {@link Exposure} of a member. */
export const kExposure: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.exposure");

/** The property with the {@link Effect} of a procedure. */
export const kEffect: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.effect");

/** The property with the options of a tag. */
export const kTagOptions: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.tag-options");

/** The way in which an agent may reach a member; `"none"` is the default of every member. */
export type Exposure = "none" | "resource" | "tool";

/** The effect of a procedure; `"unstated"` is treated as mutating. */
export type Effect = "unstated" | "read" | "mutates";

/** The part of a member that tags read. */
export interface Taggable {
  readonly kind: string;
  readonly [kExposure]: Exposure;
  readonly [kEffect]?: Effect;
}

/** The tags of a member. */
interface Tag {
  readonly exposure: Exposure;
  readonly effect: Effect;
  readonly options: TagOptions;
}

const exposures: ReadonlySet<unknown> = new Set<Exposure>(["none", "resource", "tool"]);
const effects: ReadonlySet<unknown> = new Set<Effect>(["unstated", "read", "mutates"]);

/**
 * Returns the tags of a member.
 *
 * @throws SurfaceError `INVALID_MEMBER` for a value of another version of this package, which could expose too much.
 */
export function tagOf(member: Taggable & { readonly [kTagOptions]?: TagOptions }): Tag {
  const { [kExposure]: exposure, [kEffect]: effect = "unstated", [kTagOptions]: options = {} } = member;
  if (exposures.has(exposure) && effects.has(effect)) return { exposure, effect, options };
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Cannot read the tags of a ${member.kind}: they are of another version of this package; create and tag it with this one`,
  );
}

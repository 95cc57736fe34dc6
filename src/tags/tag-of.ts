import { SurfaceError } from "../errors.ts";
import type { TagOptions } from "./tool-options.ts";

/**
 * The symbols under which a member carries its tags. Registered globally, so that two copies of this package in one
 * process still read each other's tags: a tag that is not seen would deny, but one that is half seen must not happen.
 */

/** Where a member is exposed: the key of {@link Exposure}. */
export const kExposure: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.exposure");

/** Whether a procedure changes anything: the key of {@link Effect}. */
export const kEffect: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.effect");

/** What the author said about the tool or resource that a tag makes: the key of its options. */
export const kTagOptions: unique symbol = /* @__PURE__ */ Symbol.for("surface-mcp.tag-options");

/** How an agent may reach a member; `"none"` is every member's default. */
export type Exposure = "none" | "resource" | "tool";

/** The effect of a procedure; `"unstated"` is treated as mutating. */
export type Effect = "unstated" | "read" | "mutates";

/** The part of a member that tags read. */
export interface Taggable {
  readonly kind: string;
  readonly [kExposure]: Exposure;
  readonly [kEffect]?: Effect;
}

/** A member's tags, read back. */
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
    `Reading the tags of a ${member.kind}: they are not of this version of the package; build and tag it with this one`,
  );
}

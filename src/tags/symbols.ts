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

/**
 * What is known of a procedure's effect: nothing (treated as mutating), that it only reads, or that its author said
 * it mutates.
 */
export type Effect = "unstated" | "read" | "mutates";

/** The part of a member that tags look at. */
export interface Taggable {
  readonly kind: string;
  readonly [kExposure]: Exposure;
  readonly [kEffect]?: Effect;
}

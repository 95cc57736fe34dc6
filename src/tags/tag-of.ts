import { kEffect, kExposure, kTagOptions, type Effect, type Exposure, type Taggable } from "./symbols.ts";
import type { ToolOptions } from "./tool-options.ts";

/** A member's tags, read back. */
export interface Tag {
  readonly exposure: Exposure;
  readonly effect: Effect;
  readonly options: ToolOptions;
}

/** Reads a member's tags. An untagged member has exposure `"none"`, whatever else it carries. */
export function tagOf(member: Taggable & { readonly [kTagOptions]?: ToolOptions }): Tag {
  return {
    exposure: member[kExposure],
    effect: member[kEffect] ?? "unstated",
    options: member[kTagOptions] ?? {},
  };
}

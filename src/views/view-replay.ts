import type { HiddenEntry } from "./showing.ts";
import type { ViewEntity, ViewVerdict } from "./view-rules.ts";

/** What somebody would be shown, and why no more: the same decision that requests get. */
export interface ViewReplay {
  /** What the rules were asked about. */
  readonly entity: ViewEntity;
  readonly verdict: ViewVerdict;
  /** The names of the tools that would be listed, on the wire. Empty where nobody gets in. */
  readonly visible_tools: readonly string[];
  readonly visible_tool_count: number;
  /** The ids of the resources and templates that would be listed. */
  readonly visible_resources: readonly string[];
  /** The ids of what is behind a gateway; left out where there is none. */
  readonly operations?: readonly string[];
  /** What there is besides, and what hides it. */
  readonly hidden: readonly HiddenEntry[];
}

import { authorise } from "../call/authorise.ts";
import type { Caller } from "../catalog/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { gatewayToolNames } from "../catalog/gateway-tool-names.ts";
import type { Decision, Views } from "./decision.ts";
import { show, showTo } from "./show.ts";
import { toEntity } from "./to-entity.ts";
import type { HiddenEntry } from "./showing.ts";
import type { ViewReplay } from "./view-replay.ts";

/** Makes the tools that are listed of a gateway over what a view shows. */
export type ToFaceTools = (shown: Catalog) => readonly ToolEntry[];

/** What is replayed. */
export interface ReplayParts {
  readonly views: Views;
  /** Everything that there is, with whatever else is listed beside it: the tools of `pull()`, that of `views()`. */
  readonly catalog: Catalog;
  /** Who would ask, and by which view. */
  readonly caller: Caller;
  /** Left out: a gateway lists its four names to everybody. */
  readonly faceTools?: ToFaceTools | undefined;
  /** Leaves out of what is hidden whatever the caller was not granted: who asks for themselves is not told that it exists. */
  readonly isForCaller?: boolean;
}

function idsOf(entries: readonly { readonly id: string }[]): readonly string[] {
  return Object.freeze([...new Set(entries.map(({ id }) => id))].toSorted());
}

function namesOf(tools: readonly { readonly name: string }[]): readonly string[] {
  return Object.freeze(tools.map(({ name }) => name).toSorted());
}

/** The names of what is listed of a gateway, for a caller. */
function gatewayNames(shown: Catalog, { caller, faceTools }: ReplayParts): readonly string[] {
  if (faceTools === undefined) return gatewayToolNames;
  return namesOf(faceTools(shown).filter((tool) => authorise(caller, tool) === undefined));
}

/** What a caller may be told of as hidden: views may be told of, and what they have no right to is not there for them. */
function tellable(hidden: readonly HiddenEntry[], { catalog, caller }: ReplayParts): readonly HiddenEntry[] {
  const { tools, prompts, resources, templates } = catalog;
  const all = [...tools, ...prompts, ...resources, ...templates];
  const untold = new Set(all.filter((entry) => authorise(caller, entry) !== undefined).map(({ id }) => id));
  return Object.freeze(hidden.filter(({ name }) => !untold.has(name)));
}

/** What somebody would be shown by a decision. */
function toReplay(parts: ReplayParts, decision: Decision): Omit<ViewReplay, "entity" | "verdict"> {
  const shown = show(parts.catalog, decision);
  const { catalog, hidden } = showTo(shown, parts.caller);
  const isGateway = shown.face === "gateway";
  const visible = isGateway ? gatewayNames(shown.catalog, parts) : namesOf(catalog.tools);
  return {
    visible_tools: visible,
    visible_tool_count: visible.length,
    ...(isGateway ? { operations: idsOf(catalog.tools) } : {}),
    visible_resources: idsOf([...catalog.resources, ...catalog.templates]),
    hidden: parts.isForCaller === true ? tellable(hidden, parts) : hidden,
  };
}

/**
 * Tells what a caller would be shown by their view, and what hides the rest: by the functions that decide it for requests, and
 * without one. Pure.
 */
export function replayView(parts: ReplayParts): ViewReplay {
  const entity = toEntity(parts.caller);
  const decision = parts.views.decide(entity);
  return Object.freeze({ entity, verdict: decision.verdict, ...toReplay(parts, decision) });
}

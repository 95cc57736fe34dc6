import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { gatewayToolNames } from "../catalog/gateway-tool-names.ts";
import type { Decision, Views } from "./decision.ts";
import { show, showTo } from "./show.ts";
import { toEntity } from "./to-entity.ts";
import { toTelling } from "./to-telling.ts";
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
  /** Leaves out of what is hidden, and of the patterns, whatever the caller was not granted: who asks for themselves is not told that it exists. */
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

/** What somebody would be shown by a decision. */
function toReplay(parts: ReplayParts, decision: Decision): Omit<ViewReplay, "entity"> {
  const shown = show(parts.catalog, decision);
  const { catalog, hidden } = showTo(shown, parts.caller);
  const telling = parts.isForCaller === true ? toTelling(parts.catalog, parts.caller) : undefined;
  const isGateway = shown.face === "gateway";
  const visible = isGateway ? gatewayNames(shown.catalog, parts) : namesOf(catalog.tools);
  return {
    verdict: telling?.verdict(decision) ?? decision.verdict,
    visible_tools: visible,
    visible_tool_count: visible.length,
    ...(isGateway ? { operations: idsOf(catalog.tools) } : {}),
    visible_resources: idsOf([...catalog.resources, ...catalog.templates]),
    hidden: telling?.hidden(hidden) ?? hidden,
  };
}

/**
 * Tells what a caller would be shown by their view, and what hides the rest: by the functions that decide it for requests, and
 * without one. Pure.
 */
export function replayView(parts: ReplayParts): ViewReplay {
  const entity = toEntity(parts.caller);
  const decision = parts.views.decide(entity);
  return Object.freeze({ entity, ...toReplay(parts, decision) });
}

import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import { gatewayToolNames } from "../catalog/own-tool-names.ts";
import { toMatcher, type Named } from "../catalog/glob.ts";
import { toEntity, type Decision } from "./compile-rules.ts";
import type { Views } from "./views.ts";
import { show, showTo, type HiddenEntry } from "./show.ts";
import type { ViewEntity, ViewVerdict } from "./view-rules.ts";

/** The answer of a replay: what a caller would be shown, and what hides the rest. Requests get the same decision. */
export interface ViewReplay {
  /** The facts about the caller that the rules were given. */
  readonly entity: ViewEntity;
  readonly verdict: ViewVerdict;
  /** The names of the tools that would be listed, on the wire. Empty if the view is denied. */
  readonly visible_tools: readonly string[];
  readonly visible_tool_count: number;
  /** The ids of the resources and templates that would be listed. */
  readonly visible_resources: readonly string[];
  /** The ids of the operations behind a gateway; left out without one. */
  readonly operations?: readonly string[];
  /** All other entries, each with what hides it. */
  readonly hidden: readonly HiddenEntry[];
}

/** Dependencies and input of {@link replayView}. */
export interface ReplayParts {
  readonly views: Views;
  /** All entries, with the tools of `pull()` and `views()`. */
  readonly catalog: Catalog;
  readonly caller: Caller;
  /** Leaves entries that the caller was not granted out of `hidden` and out of the patterns: the answer goes to that caller. */
  readonly isForCaller?: boolean;
}

/** The parts of a replay that name hidden entries, without those that the caller has no right to. */
interface Visibility {
  readonly hidden: (hidden: readonly HiddenEntry[]) => readonly HiddenEntry[];
  /** Returns the verdict without patterns that only fit entries which the caller has no right to. */
  readonly verdict: (decision: Decision) => ViewVerdict;
}

type Entry = Named & EntryGuard & Pick<ToolEntry, "isInternal">;

/** Divides a catalog into what a caller may know of and the rest. */
export function visibilityFor(catalog: Catalog, caller: Caller): Visibility {
  const { tools, prompts, resources, templates } = catalog;
  const all: readonly Entry[] = [...tools, ...prompts, ...resources, ...templates];
  const known = all.filter((entry) => entry.isInternal !== true && authorise(caller, entry) === undefined);
  const ofTools: ReadonlySet<Entry> = new Set(tools);
  const knownEntries = new Set(known);
  const unknown = all.filter((entry) => !knownEntries.has(entry));
  const unknownIds = new Set(unknown.map(({ id }) => id));
  const keep = (patterns: readonly string[] | undefined, server: string | undefined): readonly string[] | undefined =>
    patterns?.filter((pattern) => {
      // Only tools can be written with the server's name in front.
      const [ofTool, ofOther] = [toMatcher([pattern], server), toMatcher([pattern])];
      const fits = (entry: Entry): boolean => (ofTools.has(entry) ? ofTool : ofOther)(entry) !== undefined;
      return !unknown.some(fits) || known.some(fits);
    });
  return {
    hidden: (hidden) => Object.freeze(hidden.filter(({ name }) => !unknownIds.has(name))),
    verdict({ verdict, server }) {
      if (verdict.kind === "deny" || unknown.length === 0) return verdict;
      const [allow, disallow] = [keep(verdict.allow, server), keep(verdict.disallow, server)];
      return { ...verdict, ...(allow === undefined ? {} : { allow }), ...(disallow === undefined ? {} : { disallow }) };
    },
  };
}

function idsOf(entries: readonly { readonly id: string }[]): readonly string[] {
  return Object.freeze([...new Set(entries.map(({ id }) => id))].toSorted());
}

/** The names of the tools that are listed: of a gateway its own, which need what every read needs. */
function listedTools({ face, catalog }: ReturnType<typeof show>, caller: Caller): readonly string[] {
  if (face === "direct") return Object.freeze(catalog.tools.map(({ name }) => name).toSorted());
  const isGranted = authorise(caller, { scopes: [catalog.scopes.read] }) === undefined;
  return isGranted ? gatewayToolNames : Object.freeze([]);
}

/** Returns what a caller would be shown by a view and what hides the rest, by the functions that decide for requests. */
export function replayView({ views, catalog: whole, caller, isForCaller = false }: ReplayParts): ViewReplay {
  const entity = toEntity(caller);
  const decision = views.decide(entity);
  const shown = showTo(show(whole, decision), caller);
  const visibility = isForCaller ? visibilityFor(whole, caller) : undefined;
  const { face, catalog, hidden } = shown;
  const visible = listedTools(shown, caller);
  return Object.freeze({
    entity,
    verdict: visibility?.verdict(decision) ?? decision.verdict,
    visible_tools: visible,
    visible_tool_count: visible.length,
    ...(face === "gateway" ? { operations: idsOf(catalog.tools) } : {}),
    visible_resources: idsOf([...catalog.resources, ...catalog.templates]),
    hidden: visibility?.hidden(hidden) ?? hidden,
  });
}

import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import { toMatcher, type Matcher, type Named } from "../catalog/glob.ts";
import { narrowCatalog } from "../catalog/narrow-catalog.ts";
import type { Decision } from "./compile-rules.ts";
import type { SurfaceVerdict, ViewFace } from "./view-rules.ts";

/** An entry of the catalog that is not shown. */
export interface HiddenEntry {
  /** The entry's id. */
  readonly name: string;
  /** The reason in words: `rule "readonly": disallow "node_*"`, `scopes`, `deny`. */
  readonly by: string;
}

/** The part of a catalog that a view shows. */
export interface Shown {
  readonly face: ViewFace;
  /** Only visible entries; tools that only tools may call are never visible. */
  readonly catalog: Catalog;
  readonly hidden: readonly HiddenEntry[];
}

/** What hides an entry; `undefined`: nothing does. */
type Hides<TEntry> = (entry: TEntry) => string | undefined;

/** An entry of any sort. */
type AnyEntry = Named & EntryGuard;

/** What hides tools, and what hides everything else. */
interface Screen {
  readonly tool: Hides<ToolEntry>;
  readonly other: Hides<AnyEntry>;
}

const nothing: Hides<unknown> = () => undefined;

/** By what is left and what is not: the latter goes first. */
function byPatterns(left: Matcher | undefined, gone: Matcher, rule: string): Hides<Named> {
  return (named) => {
    const pattern = gone(named);
    if (pattern !== undefined) return `${rule}: disallow "${pattern}"`;
    return left !== undefined && left(named) === undefined ? `${rule}: not in allow` : undefined;
  };
}

function toScreen(verdict: SurfaceVerdict, { rule, server }: Decision): Screen {
  const { allow = [], disallow = [], readOnly = false } = verdict;
  // Most callers come by a view that leaves everything.
  if (allow.length === 0 && disallow.length === 0 && !readOnly) return { tool: nothing, other: nothing };
  const where = `rule "${rule ?? ""}"`;
  const hides = (of?: string): Hides<Named> =>
    byPatterns(allow.length === 0 ? undefined : toMatcher(allow, of), toMatcher(disallow, of), where);
  const hidesTool = hides(server);
  return {
    tool: (tool) => hidesTool(tool) ?? (readOnly && !tool.hints.readOnlyHint ? `${where}: readOnly` : undefined),
    other: hides(),
  };
}

/** What is hidden, each once, by name: a collection is two entries, and one thing. */
function sortHidden(hidden: readonly HiddenEntry[]): readonly HiddenEntry[] {
  const byText = new Map(hidden.map((entry) => [`${entry.name} ${entry.by}`, entry]));
  const sorted = [...byText].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.freeze(sorted.map(([, entry]) => entry));
}

const hidesAll: Hides<unknown> = () => "deny";

/** Leaves of a catalog what nothing hides. Of a tool that only tools may call, nobody is told that it is hidden either. */
function screen(catalog: Catalog, { tool: hidesTool, other }: Screen): Omit<Shown, "face"> {
  const hidden: HiddenEntry[] = [];
  const keeps = ({ id }: Named, by: string | undefined): boolean => {
    if (by !== undefined) hidden.push(Object.freeze({ name: id, by }));
    return by === undefined;
  };
  const kept = narrowCatalog(catalog, {
    tool: (tool) => tool.isInternal !== true && keeps(tool, hidesTool(tool)),
    prompt: (prompt) => keeps(prompt, other(prompt)),
    resource: (resource) => keeps(resource, other(resource)),
  });
  return { catalog: kept, hidden: sortHidden(hidden) };
}

/**
 * Leaves of a catalog what a decision shows, whoever asks: nothing, where it denies. The one function that the wire and replays
 * ask. Pure.
 */
export function show(catalog: Catalog, decision: Decision): Shown {
  const { verdict } = decision;
  if (verdict.kind === "deny") {
    return Object.freeze({ face: "direct", ...screen(catalog, { tool: hidesAll, other: hidesAll }) });
  }
  return Object.freeze({ face: verdict.face ?? "direct", ...screen(catalog, toScreen(verdict, decision)) });
}

const noScopes: readonly string[] = Object.freeze([]);

/** What a caller lacks for an entry, in a word. */
function lackOf(caller: Caller, entry: EntryGuard): string | undefined {
  if (authorise(caller, entry) === undefined) return undefined;
  const resource = entry.requires?.resource;
  const rights = { scopes: noScopes, requires: { scopes: noScopes, scopesAny: noScopes, resource } };
  return authorise(caller, rights) === undefined ? "scopes" : "resource";
}

/** Leaves of what is shown what one caller was granted: what is listed for them. The rest is hidden besides. Pure. */
export function showTo(shown: Shown, caller: Caller): Shown {
  const hides = (entry: EntryGuard): string | undefined => lackOf(caller, entry);
  const { catalog, hidden } = screen(shown.catalog, { tool: hides, other: hides });
  return Object.freeze({ face: shown.face, catalog, hidden: sortHidden([...shown.hidden, ...hidden]) });
}

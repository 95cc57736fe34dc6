import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import { type Catalog, type EntryFilter, narrowCatalog } from "../catalog/catalog.ts";
import type { EntryGuard, ToolEntry } from "../catalog/entry.ts";
import { toMatcher, type Named } from "../catalog/glob.ts";
import type { Decision } from "./compile-rules.ts";
import type { ViewFace } from "./view-rules.ts";

/** A hidden entry of the catalog. */
export interface HiddenEntry {
  /** The entry's id. */
  readonly name: string;
  /** The reason: `rule "readonly": disallow "node_*"`, `scopes`, `resource` or `deny`. */
  readonly by: string;
}

/** The part of a catalog that a view shows. */
export interface Shown {
  readonly face: ViewFace;
  /** Visible entries only. Internal tools are never visible. */
  readonly catalog: Catalog;
  readonly hidden: readonly HiddenEntry[];
}

/** Returns the reason why an entry is hidden; `undefined` for a visible entry. */
type Hides<TEntry> = (entry: TEntry) => string | undefined;

/** Returns for each entry the reason why a decision hides it. */
export interface Screen {
  readonly tool: Hides<ToolEntry>;
  /** Hides everything but tools. */
  readonly other: Hides<Named & EntryGuard>;
}

const nothing: Hides<unknown> = () => undefined;
const hidesAll: Hides<unknown> = () => "deny";

/** Returns the reasons of a decision. Compiles the patterns once. */
export function toScreen({ verdict, rule = "", server }: Decision): Screen {
  if (verdict.kind === "deny") return { tool: hidesAll, other: hidesAll };
  const { allow = [], disallow = [], readOnly = false } = verdict;
  // Most views hide nothing.
  if (allow.length === 0 && disallow.length === 0 && !readOnly) return { tool: nothing, other: nothing };
  const where = `rule "${rule}"`;
  const toHides = (of?: string): Hides<Named> => {
    const [allowed, disallowed] = [toMatcher(allow, of), toMatcher(disallow, of)];
    return (named) => {
      const pattern = disallowed(named);
      if (pattern !== undefined) return `${where}: disallow "${pattern}"`;
      return allow.length > 0 && allowed(named) === undefined ? `${where}: not in allow` : undefined;
    };
  };
  const hidesTool = toHides(server);
  return {
    tool: (tool) => hidesTool(tool) ?? (readOnly && !tool.hints.readOnlyHint ? `${where}: readOnly` : undefined),
    other: toHides(),
  };
}

/** Sorts hidden entries by name, without duplicates: a collection is two entries. */
function sortHidden(hidden: readonly HiddenEntry[]): readonly HiddenEntry[] {
  const byText = new Map(hidden.map((entry) => [`${entry.name} ${entry.by}`, entry]));
  const sorted = [...byText].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.freeze(sorted.map(([, entry]) => entry));
}

/** Narrows a catalog. Internal tools are not listed as hidden either. */
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

/** Returns the filter of a decision, for requests. Compiles the patterns once. */
export function toKeep(decision: Decision): EntryFilter {
  const { tool: hidesTool, other } = toScreen(decision);
  return {
    tool: (tool) => tool.isInternal !== true && hidesTool(tool) === undefined,
    prompt: (prompt) => other(prompt) === undefined,
    resource: (resource) => other(resource) === undefined,
  };
}

/** Narrows a catalog to the entries that a decision shows, and lists the hidden ones, for replays. Pure. */
export function show(catalog: Catalog, decision: Decision): Shown {
  const { verdict } = decision;
  const face = verdict.kind === "deny" ? "direct" : (verdict.face ?? "direct");
  return Object.freeze({ face, ...screen(catalog, toScreen(decision)) });
}

const noScopes: readonly string[] = Object.freeze([]);

function lackOf(caller: Caller, entry: EntryGuard): string | undefined {
  if (authorise(caller, entry) === undefined) return undefined;
  const resource = entry.requires?.resource;
  const rights = { scopes: noScopes, requires: { scopes: noScopes, scopesAny: noScopes, resource } };
  return authorise(caller, rights) === undefined ? "scopes" : "resource";
}

/** Narrows the shown entries to those that a caller was granted, and lists the others as hidden. Pure. */
export function narrowToGrants(shown: Shown, caller: Caller): Shown {
  const hides = (entry: EntryGuard): string | undefined => lackOf(caller, entry);
  const { catalog, hidden } = screen(shown.catalog, { tool: hides, other: hides });
  return Object.freeze({ face: shown.face, catalog, hidden: sortHidden([...shown.hidden, ...hidden]) });
}

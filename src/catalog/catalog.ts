import type { CatalogScopes } from "./entry-scopes.ts";
import type { EntryGuard, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";
import { diffLists, type ListDiff, patchSorted, placeOf, sortById } from "./list-changes.ts";

/** The entries of a catalog, sorted and frozen. */
export interface CatalogEntries {
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly prompts: readonly PromptEntry[];
}

/** The tools, resources, templates and prompts of an app: from tags, expose maps, hand-written entries and mounts. Frozen. */
export interface Catalog extends CatalogEntries {
  /** Returns the tool with this wire name. */
  tool(name: string): ToolEntry | undefined;
  /** Returns the tool with this id. */
  toolOf(id: string): ToolEntry | undefined;
  /** Returns the prompt with this wire name. */
  prompt(name: string): PromptEntry | undefined;
  /** The start of every URI. */
  readonly uriPrefix: string;
  /** The scopes that the entries require of callers. */
  readonly scopes: CatalogScopes;
  /** Sentences for the author about entries that some hosts cannot use. */
  readonly warnings: readonly string[];
}

interface NamedEntry {
  readonly name: string;
}

/** Entries up to which a lookup uses an index. For more, it searches: an index would cost the whole catalog after each change. */
const maxIndexed = 256;

/** Creates the lookup of entries that are sorted by name. */
function createFind<TEntry extends NamedEntry>(entries: readonly TEntry[]): (name: string) => TEntry | undefined {
  let byName: ReadonlyMap<string, TEntry> | undefined;
  return (name) => {
    if (entries.length <= maxIndexed) {
      byName ??= new Map(entries.map((entry) => [entry.name, entry]));
      return byName.get(name);
    }
    const found = entries[placeOf(entries, name, (entry) => entry.name)];
    return found?.name === name ? found : undefined;
  };
}

/**
 * Creates the catalog of entries that are sorted already.
 *
 * @param of - the fields of the catalog that are not entries. Read on use, since most are computed on first use.
 */
export function createCatalogOf(
  { tools, resources, templates, prompts }: CatalogEntries,
  of: Pick<Catalog, "uriPrefix" | "scopes" | "warnings">,
): Catalog {
  const tool = createFind(tools);
  return Object.freeze({
    ...{ tools, resources, templates, prompts, tool, prompt: createFind(prompts) },
    toolOf(id: string) {
      // The wire name of every tool is its id with `_` for each dot.
      const found = tool(id.replaceAll(".", "_"));
      return found?.id === id ? found : undefined;
    },
    uriPrefix: of.uriPrefix,
    get scopes() {
      return of.scopes;
    },
    get warnings() {
      return of.warnings;
    },
  });
}

/** Decides which entries of a catalog are kept. */
export interface EntryFilter {
  tool(entry: ToolEntry): boolean;
  prompt(entry: PromptEntry): boolean;
  /** Also for entries outside catalogs, such as skills. */
  resource(entry: Pick<ResourceEntry, "id"> & EntryGuard): boolean;
}

const nameOf = ({ name }: ToolEntry): string => name;

/** Returns a list without the entries that are not kept: the same list if all are. */
function keepOf<TEntry>(entries: readonly TEntry[], keep: (entry: TEntry) => boolean): readonly TEntry[] {
  const kept = entries.filter(keep);
  return kept.length === entries.length ? entries : Object.freeze(kept);
}

/**
 * Returns a catalog of the entries that are kept, whose lookups find no others: the same object if all are kept. Scopes, URI prefix
 * and warnings stay those of the whole.
 */
export function narrowCatalog(catalog: Catalog, keep: EntryFilter): Catalog {
  const tools = keepOf(catalog.tools, (tool) => keep.tool(tool));
  const prompts = keepOf(catalog.prompts, (prompt) => keep.prompt(prompt));
  const resources = keepOf(catalog.resources, (resource) => keep.resource(resource));
  const templates = keepOf(catalog.templates, (template) => keep.resource(template));
  const isWhole =
    tools === catalog.tools &&
    prompts === catalog.prompts &&
    resources === catalog.resources &&
    templates === catalog.templates;
  return isWhole ? catalog : createCatalogOf({ tools, prompts, resources, templates }, catalog);
}

/** A change of the tools of a catalog, and of nothing else. */
export interface ToolChange extends ListDiff<ToolEntry> {
  readonly before: Catalog;
  readonly after: Catalog;
}

/**
 * Returns the change of the tools; `undefined` if other entries have changed, or a tool whose description depends on the resources
 * that a view shows.
 */
export function toToolChange(before: Catalog, after: Catalog): ToolChange | undefined {
  const { resources, templates, prompts } = before;
  if (resources !== after.resources || templates !== after.templates || prompts !== after.prompts) return undefined;
  const { gone, come } = diffLists(before.tools, after.tools);
  const isFixed = [...gone, ...come].every(({ describedFor }) => describedFor === undefined);
  return isFixed ? { before, after, gone, come } : undefined;
}

/** Returns the catalog that was narrowed from `before`, after a change. @param kept - the new tools that are kept. */
export function followTools(
  narrowed: Catalog,
  { before, after, gone, come }: ToolChange,
  kept: readonly ToolEntry[],
): Catalog {
  if (narrowed === before && kept.length === come.length) return after;
  const left = gone.filter((tool) => narrowed.tool(tool.name) === tool);
  if (left.length + kept.length === 0) return narrowed;
  const tools = patchSorted(narrowed.tools, { gone: left, come: kept }, nameOf);
  const { resources, templates, prompts } = narrowed;
  return createCatalogOf({ tools, resources, templates, prompts }, after);
}

/** Returns a catalog with other tools, no two of which may share a name. */
export function replaceTools(catalog: Catalog, tools: readonly ToolEntry[]): Catalog {
  const { prompts, resources, templates } = catalog;
  return createCatalogOf({ tools: Object.freeze(sortById(tools, nameOf)), prompts, resources, templates }, catalog);
}

import { createCatalogOf, type Catalog } from "./catalog.ts";
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";
import { diffLists, patchSorted, sortById, type ListDiff } from "./list-changes.ts";

/** Decides which entries of a catalog are kept. */
export interface EntryFilter {
  tool(entry: ToolEntry): boolean;
  prompt(entry: PromptEntry): boolean;
  resource(entry: ResourceEntry | TemplateEntry): boolean;
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

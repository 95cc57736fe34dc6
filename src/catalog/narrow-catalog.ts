import type { Catalog } from "./catalog.ts";
import { IndexedTools } from "./indexed-tools.ts";
import { diffLists, patchSorted, type ListDiff } from "./list-changes.ts";
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";

/** Decides which entries of a catalog are kept. */
export interface Keep {
  tool(entry: ToolEntry): boolean;
  prompt(entry: PromptEntry): boolean;
  resource(entry: ResourceEntry | TemplateEntry): boolean;
}

type Entries = Pick<Catalog, "tools" | "prompts" | "resources" | "templates">;

/** Returns a list without the entries that are not kept: the same list if all are. */
function keepOf<TEntry>(entries: readonly TEntry[], keep: (entry: TEntry) => boolean): readonly TEntry[] {
  const kept = entries.filter(keep);
  return kept.length === entries.length ? entries : Object.freeze(kept);
}

function withEntries(catalog: Catalog, { tools, prompts, resources, templates }: Entries): Catalog {
  const indexed = new IndexedTools(tools);
  const promptsByName = new Map(prompts.map((prompt) => [prompt.name, prompt]));
  return Object.freeze({
    ...{ tools, prompts, resources, templates },
    tool: indexed.tool,
    toolOf: indexed.toolOf,
    prompt: (name: string) => promptsByName.get(name),
    uriPrefix: catalog.uriPrefix,
    // Getters, since a catalog computes both on first use.
    get scopes() {
      return catalog.scopes;
    },
    get warnings() {
      return catalog.warnings;
    },
  });
}

/**
 * Returns a catalog of the entries that are kept, whose lookups find no others: the same object if all are kept. Scopes, URI prefix
 * and warnings stay those of the whole.
 */
export function narrowCatalog(catalog: Catalog, keep: Keep): Catalog {
  const tools = keepOf(catalog.tools, (tool) => keep.tool(tool));
  const prompts = keepOf(catalog.prompts, (prompt) => keep.prompt(prompt));
  const resources = keepOf(catalog.resources, (resource) => keep.resource(resource));
  const templates = keepOf(catalog.templates, (template) => keep.resource(template));
  const isWhole =
    tools === catalog.tools &&
    prompts === catalog.prompts &&
    resources === catalog.resources &&
    templates === catalog.templates;
  return isWhole ? catalog : withEntries(catalog, { tools, prompts, resources, templates });
}

/** A change of the tools of a catalog, and of nothing else. */
export interface ToolChange extends ListDiff<ToolEntry> {
  readonly before: Catalog;
  readonly after: Catalog;
}

/** Returns how the tools have changed; `undefined` if other entries have, or a tool that is described by the resources shown. */
export function toToolChange(before: Catalog, after: Catalog): ToolChange | undefined {
  const { resources, templates, prompts } = before;
  if (resources !== after.resources || templates !== after.templates || prompts !== after.prompts) return undefined;
  const { gone, come } = diffLists(before.tools, after.tools);
  const isFixed = [...gone, ...come].every(({ describedFor }) => describedFor === undefined);
  return isFixed ? { before, after, gone, come } : undefined;
}

/**
 * Returns a catalog that was narrowed from the one before a change, as it is after the change.
 *
 * @param kept - those of the new tools that are kept.
 */
export function followTools(
  narrowed: Catalog,
  { before, after, gone, come }: ToolChange,
  kept: readonly ToolEntry[],
): Catalog {
  if (narrowed === before && kept.length === come.length) return after;
  const left = gone.filter((tool) => narrowed.tool(tool.name) === tool);
  if (left.length + kept.length === 0) return narrowed;
  const tools = patchSorted(narrowed.tools, { gone: new Set(left), come: kept }, ({ name }) => name);
  const { resources, templates, prompts } = narrowed;
  return withEntries(after, { tools: Object.freeze(tools), resources, templates, prompts });
}

/** Returns a catalog with other tools, no two of which may share a name. */
export function replaceTools(catalog: Catalog, tools: readonly ToolEntry[]): Catalog {
  const { prompts, resources, templates } = catalog;
  const sorted = Object.freeze(tools.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
  return withEntries(catalog, { tools: sorted, prompts, resources, templates });
}

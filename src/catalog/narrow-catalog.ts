import type { Catalog } from "./catalog.ts";
import { IndexedTools } from "./indexed-tools.ts";
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

/** Returns a catalog with other tools, no two of which may share a name. */
export function replaceTools(catalog: Catalog, tools: readonly ToolEntry[]): Catalog {
  const { prompts, resources, templates } = catalog;
  const sorted = Object.freeze(tools.toSorted((left, right) => (left.name < right.name ? -1 : 1)));
  return withEntries(catalog, { tools: sorted, prompts, resources, templates });
}

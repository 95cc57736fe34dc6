import type { Catalog } from "./catalog.ts";
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";

/** Which entries of a catalog are kept. */
export interface Keep {
  tool(entry: ToolEntry): boolean;
  prompt(entry: PromptEntry): boolean;
  resource(entry: ResourceEntry | TemplateEntry): boolean;
}

type Listed = Pick<Catalog, "tools" | "prompts" | "resources" | "templates">;

/** What is left of a list: the same object where that is everything. */
function keepOf<TEntry>(entries: readonly TEntry[], keep: (entry: TEntry) => boolean): readonly TEntry[] {
  const kept = entries.filter(keep);
  return kept.length === entries.length ? entries : Object.freeze(kept);
}

function isWhole(listed: Listed, catalog: Catalog): boolean {
  return (
    listed.tools === catalog.tools &&
    listed.prompts === catalog.prompts &&
    listed.resources === catalog.resources &&
    listed.templates === catalog.templates
  );
}

/**
 * A catalog of only what is kept, whose lookups find nothing else: what is left out is to it as what never was. The same object
 * where everything is kept. Its scopes, URI prefix and warnings are those of the whole.
 */
export function narrowCatalog(catalog: Catalog, keep: Keep): Catalog {
  const listed: Listed = {
    tools: keepOf(catalog.tools, (tool) => keep.tool(tool)),
    prompts: keepOf(catalog.prompts, (prompt) => keep.prompt(prompt)),
    resources: keepOf(catalog.resources, (resource) => keep.resource(resource)),
    templates: keepOf(catalog.templates, (template) => keep.resource(template)),
  };
  if (isWhole(listed, catalog)) return catalog;
  const tools = new Map(listed.tools.map((tool) => [tool.name, tool]));
  const toolsById = new Map(listed.tools.map((tool) => [tool.id, tool]));
  const prompts = new Map(listed.prompts.map((prompt) => [prompt.name, prompt]));
  return Object.freeze({
    ...listed,
    tool: (name: string) => tools.get(name),
    toolOf: (id: string) => toolsById.get(id),
    prompt: (name: string) => prompts.get(name),
    uriPrefix: catalog.uriPrefix,
    // As there: made when somebody asks.
    get scopes() {
      return catalog.scopes;
    },
    get warnings() {
      return catalog.warnings;
    },
  });
}

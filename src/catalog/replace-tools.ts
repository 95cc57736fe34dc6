import type { Catalog } from "./catalog.ts";
import type { ToolEntry } from "./entry.ts";

/** The same catalog with other tools in the place of its own. No two of them share a name. */
export function replaceTools(catalog: Catalog, tools: readonly ToolEntry[]): Catalog {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  return Object.freeze({
    ...catalog,
    tools: Object.freeze(tools.toSorted((left, right) => (left.name < right.name ? -1 : 1))),
    tool: (name: string) => byName.get(name),
    toolOf: (id: string) => byId.get(id),
  });
}

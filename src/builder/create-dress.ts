import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { createReadResourceTool, readResourceName, type FindReadable } from "../catalog/read-resource-tool.ts";
import { replaceTools } from "../catalog/replace-tools.ts";

/** For how many different lists of resources the tool that tells them is kept. */
const maxKept = 64;

function keyOf({ resources, templates }: Catalog): string {
  return JSON.stringify([
    // What is mounted may come to be called something else.
    resources.map(({ uri, title, description }) => [uri, title ?? description]),
    templates.map(({ uriTemplate }) => uriTemplate),
  ]);
}

/**
 * Makes what has the tool that reads resources, where a catalog has it, tell of no others than are in another catalog. What came
 * of the same lists is the same.
 */
export function createDress(find: FindReadable): (catalog: Catalog, told?: Catalog) => Catalog {
  const kept = new Map<string, ToolEntry>();
  const toTool = (told: Catalog): ToolEntry => {
    const key = keyOf(told);
    const tool = kept.get(key) ?? createReadResourceTool(told, find);
    kept.set(key, tool);
    const [oldest] = kept.keys();
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
    return tool;
  };
  return (catalog, told = catalog) => {
    if (catalog.tool(readResourceName) === undefined) return catalog;
    const tool = toTool(told);
    if (catalog.tool(readResourceName) === tool) return catalog;
    return replaceTools(
      catalog,
      catalog.tools.map((each) => (each.name === readResourceName ? tool : each)),
    );
  };
}

import { replaceTools, type Catalog } from "../../catalog/catalog.ts";
import type { ToolEntry, ToolPage } from "../../catalog/entry.ts";
import type { JsonObject } from "../../schema/json.ts";
import { pageMimeType, type ClientExtension, type Extension } from "./extensions.ts";
import type { Readable } from "../large-values.ts";

const id: ClientExtension = "io.modelcontextprotocol/ui";

/** Returns the `_meta` of a tool for clients that show pages. The flat key is that of hosts before 2026-01-26. */
function toMeta({ ui, meta }: ToolEntry): JsonObject | undefined {
  if (ui === undefined) return meta;
  const { page, visibility } = ui;
  const shown = {
    ...(page === undefined ? {} : { resourceUri: page.uri }),
    ...(visibility === undefined ? {} : { visibility: [...visibility] }),
  };
  return { ...meta, ui: shown, ...(page === undefined ? {} : { "ui/resourceUri": page.uri }) };
}

const shown = new WeakMap<ToolEntry, ToolEntry>();

/** Returns a tool with the `_meta` of its page: the same object for the same tool, since lists are kept by their entries. */
function toShown(tool: ToolEntry): ToolEntry {
  if (tool.ui === undefined) return tool;
  const known = shown.get(tool) ?? Object.freeze({ ...tool, meta: toMeta(tool) });
  shown.set(tool, known);
  return known;
}

const lists = new WeakMap<Catalog["tools"], Catalog>();

function withPages(catalog: Catalog): Catalog {
  const known = lists.get(catalog.tools) ?? replaceTools(catalog, catalog.tools.map(toShown));
  lists.set(catalog.tools, known);
  return known;
}

function hasPage({ ui }: ToolEntry): boolean {
  return ui?.page !== undefined;
}

function toResource({ id: toolId, scopes, requires }: ToolEntry, page: ToolPage): Readable {
  const { meta } = page;
  const body = { mimeType: pageMimeType, ...(Object.keys(meta).length === 0 ? {} : { meta: { ui: meta } }) };
  return { id: toolId, scopes, requires, read: async () => ({ ...body, text: await page.read(), isWhole: true }) };
}

/** Pages of tools (MCP Apps, SEP-1865), for clients that declare the MIME type of pages. A page has the guard of its tool. */
export const appsExtension: Extension = {
  id,
  settings: ({ view, caller, extensions }) =>
    extensions?.has(id) === true && view.listedFor(caller).tools.some(hasPage)
      ? { mimeTypes: [pageMimeType] }
      : undefined,
  listed: (catalog, { extensions }) => (extensions?.has(id) === true ? withPages(catalog) : catalog),
  resource(uri, { catalog }) {
    if (!uri.startsWith("ui://")) return undefined;
    const tool = catalog.tool(uri.slice(uri.lastIndexOf("/") + 1));
    const page = tool?.ui?.page;
    return tool !== undefined && page?.uri === uri ? toResource(tool, page) : undefined;
  },
};

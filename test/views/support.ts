import { z } from "zod";
import type { Caller } from "../../src/surface/caller.ts";
import type { Catalog } from "../../src/catalog/catalog.ts";
import { withTools } from "../../src/catalog/create-catalog.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import { cell, collection, procedure } from "../../src/surface/define-members.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import type { Views } from "../../src/views/views.ts";
import { show, narrowToGrants } from "../../src/views/show.ts";
import { catalogOf } from "../catalog/support.ts";

const text = z.string();

/** A bespoke tool that nobody runs here. */
function tool(more: object = {}): object & { handler: () => string } {
  return { ...more, handler: () => "" };
}

/** A catalog with an entry of every sort: what changes something and what does not, what takes a grant and what does not. */
export function sampleCatalog(): Catalog {
  const catalog = catalogOf(
    {
      nodes: mcpResource(collection({ key: text, schema: text })),
      status: mcpResource(cell({ schema: text })),
      "node.rerun": mcpTool(procedure({ input: z.object({ id: text }), output: text })),
      "node.log": mcpTool(readOnly(procedure({ input: z.object({ id: text }), output: text }))),
    },
    {
      tools: {
        summarise: tool({ mutates: false }),
        purge: tool({ scopes: ["admin"] }),
        deploy: tool({ resource: { type: "repo", action: "write" } }),
      },
      prompts: { review: { handler: () => "review" } },
    },
  );
  const rerun = catalog.toolOf("node.rerun");
  if (rerun === undefined) throw new TypeError("there is no node.rerun");
  const secret: ToolEntry = { ...rerun, id: "inner.secret", name: "inner_secret", isInternal: true };
  return withTools(catalog, [secret]);
}

/** Somebody who was granted nothing, and asks by a view. */
export function callerBy(surface: string, more: Partial<Caller> = {}): Caller {
  return { id: "anonymous", isAnonymous: true, scopes: [], view: { surface }, ...more };
}

/** The names of the tools that somebody is shown by a view. */
export function toolsBy(views: Views, surface: string, catalog: Catalog = sampleCatalog()): readonly string[] {
  const caller = callerBy(surface);
  const shown = narrowToGrants(show(catalog, views.decide({ surface })), caller);
  return shown.catalog.tools.map(({ name }) => name);
}

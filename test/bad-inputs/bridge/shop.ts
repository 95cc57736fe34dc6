import * as z from "zod";
import { cell, procedure } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { mcpResource } from "../../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../../src/tags/mcp-tool.ts";
import { readOnly } from "../../../src/tags/read-only.ts";

/** A surface for a backend that means no good; its words are what a side calls it. */
export function defineShop<TCount extends z.ZodType>(words: string, count: TCount) {
  const counted = z.object({ count: z.number().describe(words) }).describe(words);
  const looked = z.object({ count: count.describe(words) }).describe(words);
  const named = { title: words, description: words };
  return defineSurface("shop", {
    state: mcpResource(cell({ schema: counted }), named),
    look: readOnly(mcpTool(procedure({ output: looked }), named)),
    bump: mcpTool(procedure({ output: counted }), named),
  });
}

/** As the face knows it. */
export const shop = defineShop("as the face says", z.number());

import type { CatalogScopes } from "./entry-scopes.ts";
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";

/** What exists for agents: the outcome of tags, expose maps and what is written by hand. Sorted, frozen. */
export interface Catalog {
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly prompts: readonly PromptEntry[];
  /** The tool of this name on the wire. */
  tool(name: string): ToolEntry | undefined;
  /** The tool of this id. */
  toolOf(id: string): ToolEntry | undefined;
  /** The prompt of this name on the wire. */
  prompt(name: string): PromptEntry | undefined;
  /** What every URI starts with. */
  readonly uriPrefix: string;
  /** What its entries ask of callers. */
  readonly scopes: CatalogScopes;
  /** Sentences for the author about things that work but may not everywhere. */
  readonly warnings: readonly string[];
}

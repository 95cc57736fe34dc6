import type { CatalogScopes } from "./entry-scopes.ts";
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";
import { placeOf } from "./list-changes.ts";

/** The entries of a catalog, sorted and frozen. */
export interface CatalogEntries {
  readonly tools: readonly ToolEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly prompts: readonly PromptEntry[];
}

/** The tools, resources, templates and prompts of an app: from tags, expose maps, hand-written entries and mounts. Frozen. */
export interface Catalog extends CatalogEntries {
  /** Returns the tool with this wire name. */
  tool(name: string): ToolEntry | undefined;
  /** Returns the tool with this id. */
  toolOf(id: string): ToolEntry | undefined;
  /** Returns the prompt with this wire name. */
  prompt(name: string): PromptEntry | undefined;
  /** The start of every URI. */
  readonly uriPrefix: string;
  /** The scopes that the entries require of callers. */
  readonly scopes: CatalogScopes;
  /** Sentences for the author about entries that some hosts cannot use. */
  readonly warnings: readonly string[];
}

const nameOf = ({ name }: { readonly name: string }): string => name;

function findByName<TEntry extends { readonly name: string }>(
  entries: readonly TEntry[],
  name: string,
): TEntry | undefined {
  const found = entries[placeOf(entries, name, nameOf)];
  return found?.name === name ? found : undefined;
}

/**
 * Creates the catalog of entries that are sorted already. Lookups search: an index would cost the whole catalog for each change.
 *
 * @param of - the fields of the catalog that are not entries. Read on use, since most are computed on first use.
 */
export function createCatalogOf(
  { tools, resources, templates, prompts }: CatalogEntries,
  of: Pick<Catalog, "uriPrefix" | "scopes" | "warnings">,
): Catalog {
  const tool = (name: string): ToolEntry | undefined => findByName(tools, name);
  return Object.freeze({
    ...{ tools, resources, templates, prompts, tool },
    toolOf(id: string) {
      // The wire name of every tool is its id with `_` for each dot.
      const found = tool(id.replaceAll(".", "_"));
      return found?.id === id ? found : undefined;
    },
    prompt: (name: string) => findByName(prompts, name),
    uriPrefix: of.uriPrefix,
    get scopes() {
      return of.scopes;
    },
    get warnings() {
      return of.warnings;
    },
  });
}

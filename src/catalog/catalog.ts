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

interface NamedEntry {
  readonly name: string;
}

/** Entries up to which a lookup uses an index. For more, it searches: an index would cost the whole catalog after each change. */
const maxIndexed = 256;

/** Creates the lookup of entries that are sorted by name. */
function createFind<TEntry extends NamedEntry>(entries: readonly TEntry[]): (name: string) => TEntry | undefined {
  let byName: ReadonlyMap<string, TEntry> | undefined;
  return (name) => {
    if (entries.length <= maxIndexed) {
      byName ??= new Map(entries.map((entry) => [entry.name, entry]));
      return byName.get(name);
    }
    const found = entries[placeOf(entries, name, (entry) => entry.name)];
    return found?.name === name ? found : undefined;
  };
}

/**
 * Creates the catalog of entries that are sorted already.
 *
 * @param of - the fields of the catalog that are not entries. Read on use, since most are computed on first use.
 */
export function createCatalogOf(
  { tools, resources, templates, prompts }: CatalogEntries,
  of: Pick<Catalog, "uriPrefix" | "scopes" | "warnings">,
): Catalog {
  const tool = createFind(tools);
  return Object.freeze({
    ...{ tools, resources, templates, prompts, tool, prompt: createFind(prompts) },
    toolOf(id: string) {
      // The wire name of every tool is its id with `_` for each dot.
      const found = tool(id.replaceAll(".", "_"));
      return found?.id === id ? found : undefined;
    },
    uriPrefix: of.uriPrefix,
    get scopes() {
      return of.scopes;
    },
    get warnings() {
      return of.warnings;
    },
  });
}

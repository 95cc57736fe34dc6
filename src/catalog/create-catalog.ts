import { SurfaceError } from "../errors.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { SurfaceClient } from "../surface/client.ts";
import { reportToConsole, type FaultReporter } from "../surface/fault.ts";
import type { Kind, MemberOfKind } from "../surface/member.ts";
import { assertUriPrefix } from "./assert-uri-prefix.ts";
import { assertUrisDiffer } from "./assert-uris-differ.ts";
import { toPromptEntry, type AnyBespokePrompt } from "./bespoke-prompt.ts";
import { toBespokeResource, type AnyBespokeResource } from "./bespoke-resource.ts";
import { toBespokeEntry, type AnyBespokeTool } from "./bespoke-tool.ts";
import { toCatalogScopes, toDefaultScopes, type DefaultScopes } from "./entry-scopes.ts";
import type { Catalog } from "./catalog.ts";
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";
import { entryWarnings } from "./entry-warnings.ts";
import { kindMappings } from "./kind-mappings.ts";
import type { Exposed, KindMapping, ResourceEntries } from "./mapping.ts";
import type { ContextSource } from "./own-context.ts";
import type { Exposure } from "./read-exposures.ts";

/** What a catalog is made from. */
export interface CatalogSource {
  /** The surface's name: the two scopes that everything asks for are named after it. */
  readonly surface: string;
  readonly exposures: readonly Exposure[];
  readonly tools: ReadonlyMap<string, AnyBespokeTool>;
  /** Default: none. */
  readonly prompts?: ReadonlyMap<string, AnyBespokePrompt>;
  /** Those that are no members. Default: none. */
  readonly resources?: ReadonlyMap<string, AnyBespokeResource>;
  /** What the URIs of all members start with, for example `surface://pipeline/`. */
  readonly uriPrefix: string;
  readonly channel: SurfaceChannel;
  readonly client: SurfaceClient<unknown>;
  /** Where handlers have from what is their own. Default: in memory. */
  readonly contexts?: ContextSource | undefined;
  /** Told of faults that nobody else hears of. Default: the console. */
  readonly report?: FaultReporter;
}

const noPrompts: ReadonlyMap<string, AnyBespokePrompt> = new Map();
const noResources: ReadonlyMap<string, AnyBespokeResource> = new Map();

interface Entries {
  readonly tools: ToolEntry[];
  readonly resources: ResourceEntry[];
  readonly templates: TemplateEntry[];
  readonly prompts: PromptEntry[];
}

type Listed = Pick<Catalog, "tools" | "resources" | "templates" | "prompts">;

interface ScopedSource extends CatalogSource {
  readonly scopes: DefaultScopes;
}

function addEntries(entries: Entries, exposure: Exposure, source: ScopedSource): void {
  const { key, member, effect, options } = exposure;
  const { channel, scopes, uriPrefix } = source;
  const exposed = { key, member, effect, options, channel, scopes, uri: `${uriPrefix}${key}` };
  // The mapping was looked up by the member's own kind.
  const mapping = kindMappings[member.kind] as KindMapping<Kind>;
  // As above.
  const typed = exposed as Exposed<MemberOfKind<Kind>>;
  if (exposure.as === "tool") {
    if (mapping.asTool !== undefined) entries.tools.push(mapping.asTool(typed));
    return;
  }
  addResource(entries, mapping.asResource?.(typed) ?? {});
}

function addResource(entries: Entries, { resource, template }: ResourceEntries): void {
  if (resource !== undefined) entries.resources.push(resource);
  if (template !== undefined) entries.templates.push(template);
}

/** What is no member: bespoke tools, prompts and hand-written resources. */
function addBespoke(entries: Entries, source: ScopedSource): void {
  const { tools, prompts = noPrompts, resources = noResources, report = reportToConsole } = source;
  for (const [name, tool] of tools) entries.tools.push(toBespokeEntry(name, tool, source));
  for (const [name, prompt] of prompts) entries.prompts.push(toPromptEntry(name, prompt, source));
  for (const [key, resource] of resources) {
    addResource(entries, toBespokeResource(key, resource, { ...source, report }));
  }
  assertUrisDiffer(entries.resources, entries.templates);
}

/** Indexes entries by name. @throws SurfaceError `NAME_COLLISION` naming both origins. */
function indexNames<TEntry extends ToolEntry | PromptEntry>(entries: readonly TEntry[]): ReadonlyMap<string, TEntry> {
  const byName = new Map<string, TEntry>();
  for (const entry of entries) {
    const taken = byName.get(entry.name);
    if (taken !== undefined) {
      throw new SurfaceError(
        "NAME_COLLISION",
        `Naming ${entry.origin}: its name on the wire, "${entry.name}", is taken by ${taken.origin}`,
      );
    }
    byName.set(entry.name, entry);
  }
  return byName;
}

/** Whether a list is as {@link sortFrozen} would make it: it made that one. */
function isSorted<TEntry>(entries: readonly TEntry[], text: (entry: TEntry) => string): boolean {
  if (!Object.isFrozen(entries)) return false;
  return entries.every((entry, index) => {
    const before = entries[index - 1];
    return before === undefined || text(before) < text(entry);
  });
}

/** Entries by a text that no two of them share, frozen: the same list where it is that already. */
function sortFrozen<TEntry extends object>(
  entries: readonly TEntry[],
  text: (entry: TEntry) => string,
): readonly TEntry[] {
  if (isSorted(entries, text)) return entries;
  const sorted = entries.toSorted((left, right) => (text(left) < text(right) ? -1 : 1));
  return Object.freeze(sorted.map((entry) => Object.freeze(entry)));
}

/**
 * Makes the catalog of an app. Each exposed member's schemas are converted here, once.
 *
 * @throws SurfaceError `NAME_COLLISION`, `INVALID_NAME`, `INVALID_MEMBER`, `INVALID_OPTION` or `SCHEMA_UNSUPPORTED`,
 * before anything is served.
 */
export function createCatalog(source: CatalogSource): Catalog {
  assertUriPrefix(source.uriPrefix);
  const entries: Entries = { tools: [], resources: [], templates: [], prompts: [] };
  const scopes = toDefaultScopes(source.surface);
  const scoped = { ...source, scopes };
  for (const exposure of source.exposures) addEntries(entries, exposure, scoped);
  addBespoke(entries, scoped);
  return toCatalog(entries, scoped);
}

/** The same catalog with further tools. @throws SurfaceError `NAME_COLLISION` naming both origins. */
export function withTools(catalog: Catalog, more: readonly ToolEntry[]): Catalog {
  return toCatalog({ ...catalog, tools: [...catalog.tools, ...more] }, catalog);
}

/** Resources of a catalog and further ones, as {@link withMounted} takes them. */
export function sortResources(
  { resources }: Pick<Catalog, "resources">,
  more: readonly ResourceEntry[],
): readonly ResourceEntry[] {
  return sortFrozen([...resources, ...more], ({ uri }) => uri);
}

/** A catalog with what is mounted: all its resources, of which this list is taken as it is, and further tools. */
export function withMounted(
  catalog: Catalog,
  { tools, resources }: { readonly tools: readonly ToolEntry[]; readonly resources: readonly ResourceEntry[] },
): Catalog {
  return toCatalog({ ...catalog, tools: [...catalog.tools, ...tools], resources }, catalog);
}

function toCatalog(
  { tools, resources, templates, prompts }: Listed,
  { uriPrefix, scopes }: Pick<ScopedSource, "uriPrefix" | "scopes">,
): Catalog {
  const toolsByName = indexNames(tools);
  const toolsById = new Map(tools.map((tool) => [tool.id, tool]));
  const promptsByName = indexNames(prompts);
  return Object.freeze({
    tools: sortFrozen(tools, (tool) => tool.name),
    resources: sortFrozen(resources, (resource) => resource.uri),
    templates: sortFrozen(templates, (template) => template.uriTemplate),
    prompts: sortFrozen(prompts, (prompt) => prompt.name),
    tool: (name: string) => toolsByName.get(name),
    toolOf: (id: string) => toolsById.get(id),
    prompt: (name: string) => promptsByName.get(name),
    uriPrefix,
    scopes: toCatalogScopes(scopes, [...tools, ...resources, ...templates, ...prompts]),
    warnings: entryWarnings(tools, [...resources, ...templates]),
  });
}

import { SurfaceError } from "../errors.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { SurfaceClient } from "../surface/client.ts";
import { reportToConsole, type FaultReporter } from "../surface/fault.ts";
import { freezeUi } from "../tags/tool-ui.ts";
import type { Kind, MemberOfKind } from "../surface/member.ts";
import { createCatalogOf, type Catalog, type CatalogEntries } from "./catalog.ts";
import type { ContextSource } from "./context/own-context.ts";
import { toPromptEntry, type AnyBespokePrompt } from "./custom/bespoke-prompt.ts";
import { toBespokeResource, type AnyBespokeResource } from "./custom/bespoke-resource.ts";
import { toBespokeEntry, type AnyBespokeTool } from "./custom/bespoke-tool.ts";
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts";
import { toCatalogScopes, toDefaultScopes, type DefaultScopes } from "./entry-scopes.ts";
import { kindMappings } from "./kinds/kind-mappings.ts";
import type { ExposedMember, KindMapping, ResourceEntries } from "./kinds/mapping.ts";
import { sortById } from "./list-changes.ts";
import type { MemberExposure } from "./read-exposures.ts";
import { withUi } from "./tool-page.ts";
import { assertUriPrefix } from "./uri-syntax.ts";
import { nameWarning } from "./wire-name.ts";

/** Characters after which Claude Code 2.1.84 cuts a tool's description: the least of the hosts that were tried. */
const maxTextLength = 2048;

type Described = ToolEntry | ResourceEntry | TemplateEntry;

const none: readonly string[] = Object.freeze([]);

function lengthWarnings({ origin, title = "", description = "" }: Described): readonly string[] {
  // The usual case first: this runs for thousands of tools whenever one is added.
  if (title.length <= maxTextLength && description.length <= maxTextLength) return none;
  return Object.entries({ title, description }).flatMap(([field, text]) => {
    if (text.length <= maxTextLength) return [];
    return `the ${field} of ${origin} is ${text.length} characters long: hosts cut it after ${maxTextLength}`;
  });
}

function flattenedWarning(origin: string, keywords: readonly string[]): string {
  return (
    `the input of ${origin} has ${keywords.join(", ")} at its root, which some model providers reject: agents see one plain ` +
    "object and a text about the rest, and the whole schema still validates; move it into a field to show it as it is"
  );
}

/** Returns sentences for the author about entries that some hosts cannot use. */
export function entryWarnings(
  tools: readonly ToolEntry[],
  resources: readonly (ResourceEntry | TemplateEntry)[],
): readonly string[] {
  // A set, since the resource and the template of a collection have the same texts.
  const warnings = new Set<string>();
  for (const { name, origin, input } of tools) {
    const warning = nameWarning(name, origin);
    if (warning !== undefined) warnings.add(warning);
    const { refusedKeywords = none } = input;
    if (refusedKeywords.length > 0) warnings.add(flattenedWarning(origin, refusedKeywords));
  }
  for (const list of [tools, resources]) {
    for (const entry of list) for (const warning of lengthWarnings(entry)) warnings.add(warning);
  }
  return Object.freeze([...warnings]);
}

function taken(origin: string, name: string, owner: string): SurfaceError {
  return new SurfaceError(
    "NAME_COLLISION",
    `Cannot name ${origin}: its ${name} is taken by ${owner}; rename one of them`,
  );
}

/** Refuses two entries with one name on the wire. */
function assertNamesDiffer(entries: readonly (ToolEntry | PromptEntry)[]): void {
  const origins = new Map<string, string>();
  for (const { name, origin } of entries) {
    const owner = origins.get(name);
    if (owner !== undefined) throw taken(origin, `wire name "${name}"`, owner);
    origins.set(name, origin);
  }
}

/** Returns a text that two templates without the prefix of the app share if they differ in their variables alone. */
function shapeOf({ base, segments }: TemplateEntry): string {
  return segments?.map((segment) => ("literal" in segment ? segment.literal : "{}")).join("/") ?? base;
}

/** Refuses entries of different origins under one URI. A fixed URI may also match a template: it is read first. */
function assertUrisDiffer({ tools, resources, templates }: Omit<CatalogEntries, "prompts">): void {
  const origins = new Map<string, string>();
  const claims = [
    ...tools.flatMap(({ ui, origin }) => {
      const uri = ui?.page?.uri;
      return uri === undefined ? [] : { uri, origin, key: uri };
    }),
    ...resources.map(({ uri, origin }) => ({ uri, origin, key: uri })),
    ...templates.map((template) => ({ uri: template.base, origin: template.origin, key: shapeOf(template) })),
  ];
  for (const { uri, origin, key } of claims) {
    const owner = origins.get(key);
    // The list and the items of a collection share a URI.
    if (owner !== undefined && owner !== origin) throw taken(origin, `URI "${uri}"`, owner);
    origins.set(key, origin);
  }
}

/** Dependencies of {@link createCatalog}. */
interface CatalogSource {
  /** The name of the surface, which its two default scopes begin with. */
  readonly surface: string;
  readonly exposures: readonly MemberExposure[];
  readonly tools: ReadonlyMap<string, AnyBespokeTool>;
  /** @default none */
  readonly prompts?: ReadonlyMap<string, AnyBespokePrompt>;
  /** Hand-written resources. @default none */
  readonly resources?: ReadonlyMap<string, AnyBespokeResource>;
  /** The start of the URIs of all members, for example `surface://pipeline/`. */
  readonly uriPrefix: string;
  readonly channel: SurfaceChannel;
  readonly client: SurfaceClient<unknown>;
  /** @default contexts in memory */
  readonly contexts?: ContextSource | undefined;
  /** Receives the faults of watches. @default writes them to the console */
  readonly report?: FaultReporter;
}

interface ScopedSource extends CatalogSource {
  readonly scopes: DefaultScopes;
}

type Entries = { readonly [Key in keyof CatalogEntries]: CatalogEntries[Key][number][] };

function addMember(
  entries: Entries,
  exposure: MemberExposure,
  { surface, channel, client, scopes, uriPrefix }: ScopedSource,
): void {
  const { key, member, effect, options } = exposure;
  const exposed = { key, member, effect, options, channel, client, scopes, uri: `${uriPrefix}${key}` };
  // The mapping was looked up by the member's own kind.
  const mapping = kindMappings[member.kind] as KindMapping<Kind>;
  // As above.
  const typed = exposed as ExposedMember<MemberOfKind<Kind>>;
  if (exposure.as === "resource") addResource(entries, mapping.asResource?.(typed) ?? {});
  else if (mapping.asTool !== undefined) entries.tools.push(withUi(mapping.asTool(typed), options.ui, surface));
}

function addResource(entries: Entries, { resource, template, pages }: ResourceEntries): void {
  if (resource !== undefined) entries.resources.push(resource);
  if (template !== undefined) entries.templates.push(template);
  if (pages !== undefined) entries.templates.push(pages);
}

/**
 * Creates the catalog of an app. Converts the schemas of each exposed member once.
 *
 * @throws SurfaceError `NAME_COLLISION`, `INVALID_NAME`, `INVALID_MEMBER`, `INVALID_OPTION` or `SCHEMA_UNSUPPORTED`.
 */
export function createCatalog(source: CatalogSource): Catalog {
  assertUriPrefix(source.uriPrefix);
  const { tools, prompts = [], resources = [], report = reportToConsole } = source;
  const entries: Entries = { tools: [], resources: [], templates: [], prompts: [] };
  const scoped = { ...source, scopes: toDefaultScopes(source.surface), report };
  for (const exposure of source.exposures) addMember(entries, exposure, scoped);
  for (const [name, tool] of tools) {
    entries.tools.push(withUi(toBespokeEntry(name, tool, scoped), freezeUi(tool).ui, source.surface));
  }
  for (const [name, prompt] of prompts) entries.prompts.push(toPromptEntry(name, prompt, scoped));
  for (const [key, resource] of resources) addResource(entries, toBespokeResource(key, resource, scoped));
  assertUrisDiffer(entries);
  assertNamesDiffer(entries.prompts);
  return sortCatalog(entries, scoped);
}

/** Returns the catalog with more tools. @throws SurfaceError `NAME_COLLISION` naming both origins. */
export function withTools(catalog: Catalog, more: readonly ToolEntry[]): Catalog {
  return sortCatalog({ ...catalog, tools: [...catalog.tools, ...more] }, catalog);
}

type ScopesAndPrefix = Pick<ScopedSource, "uriPrefix" | "scopes">;

function sortCatalog({ tools, resources, templates, prompts }: CatalogEntries, of: ScopesAndPrefix): Catalog {
  assertNamesDiffer(tools);
  const sorted = {
    tools: sortById(tools, ({ name }) => name),
    resources: sortById(resources, ({ uri }) => uri),
    templates: sortById(templates, ({ uriTemplate }) => uriTemplate),
    prompts: sortById(prompts, ({ name }) => name),
  };
  for (const list of Object.values(sorted)) {
    for (const entry of list) Object.freeze(entry);
    Object.freeze(list);
  }
  return withEntries(sorted, of);
}

/** Returns the catalog of other entries, sorted and frozen. Computes scopes and warnings on first use: there may be thousands of tools. */
export function withEntries(entries: CatalogEntries, { uriPrefix, scopes: byDefault }: ScopesAndPrefix): Catalog {
  const { tools, resources, templates, prompts } = entries;
  let scopes: Catalog["scopes"] | undefined;
  let warnings: readonly string[] | undefined;
  return createCatalogOf(entries, {
    uriPrefix,
    get scopes() {
      return (scopes ??= toCatalogScopes(byDefault, [tools, resources, templates, prompts]));
    },
    get warnings() {
      return (warnings ??= entryWarnings(tools, [...resources, ...templates]));
    },
  });
}

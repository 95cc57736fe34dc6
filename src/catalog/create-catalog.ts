import type { ResourceEntry, TemplateEntry, ToolEntry, PromptEntry } from "./entry.ts";
import { nameWarning } from "./wire-name.ts";
import { SurfaceError } from "../errors.ts";
import { assertUriPrefix, type UriSegment } from "./uri-syntax.ts";
import { readVariable, type FreeTemplate } from "./resolve-uri.ts";
import type { SurfaceChannel } from "../surface/channel.ts";
import type { SurfaceClient } from "../surface/client.ts";
import { reportToConsole, type FaultReporter } from "../surface/fault.ts";
import type { Kind, MemberOfKind } from "../surface/member.ts";
import { toPromptEntry, type AnyBespokePrompt } from "./custom/bespoke-prompt.ts";
import { toBespokeResource, type AnyBespokeResource } from "./custom/bespoke-resource.ts";
import { toBespokeEntry, type AnyBespokeTool } from "./custom/bespoke-tool.ts";
import { toCatalogScopes, toDefaultScopes, type DefaultScopes } from "./entry-scopes.ts";
import type { Catalog } from "./catalog.ts";
import { indexNames, indexTools, type IndexedTools } from "./indexed-tools.ts";
import { sortFrozen } from "./list-changes.ts";
import { kindMappings } from "./kinds/kind-mappings.ts";
import type { Exposed, KindMapping, ResourceEntries } from "./kinds/mapping.ts";
import type { ContextSource } from "./context/own-context.ts";
import type { Exposure } from "./read-exposures.ts";

/** Where Claude Code cuts a tool's description, in characters (seen in 2.1.84); the least of the hosts looked at. */
const maxWordsLength = 2048;

type Worded = ToolEntry | ResourceEntry | TemplateEntry;

const none: readonly string[] = Object.freeze([]);

function isLong({ title = "", description = "" }: Worded): boolean {
  return title.length > maxWordsLength || description.length > maxWordsLength;
}

function wordsWarnings(entry: Worded): readonly string[] {
  // Looked at for thousands, each time that one of them comes.
  if (!isLong(entry)) return none;
  return (["title", "description"] as const).flatMap((part) => {
    const length = entry[part]?.length ?? 0;
    if (length <= maxWordsLength) return [];
    return `the ${part} of ${entry.origin} is ${length} characters long: hosts cut it after ${maxWordsLength}`;
  });
}

function flattenedWarning(origin: string, keywords: readonly string[]): string {
  return (
    `the input of ${origin} has ${keywords.join(", ")} at its root, which some model providers reject: agents see one plain ` +
    "object and a text about the rest, and the whole schema still validates; move it into a field to show it as it is"
  );
}

/** Sentences for the author about entries that work but may not everywhere. */
export function entryWarnings(
  tools: readonly ToolEntry[],
  resources: readonly (ResourceEntry | TemplateEntry)[],
): readonly string[] {
  const warnings = new Set<string>();
  for (const { name, origin, input } of tools) {
    const warning = nameWarning(name, origin);
    if (warning !== undefined) warnings.add(warning);
    const { refusedKeywords = none } = input;
    if (refusedKeywords.length > 0) warnings.add(flattenedWarning(origin, refusedKeywords));
  }
  for (const list of [tools, resources]) {
    // A collection is a resource and a template with the same words: it is told once.
    for (const entry of list) for (const warning of wordsWarnings(entry)) warnings.add(warning);
  }
  return Object.freeze([...warnings]);
}

function refuse(origin: string, uri: string, owner: string): SurfaceError {
  return new SurfaceError("NAME_COLLISION", `Naming ${origin}: its URI, "${uri}", is taken by ${owner}`);
}

function isFree(template: TemplateEntry): template is FreeTemplate {
  return template.segments !== undefined;
}

/** Whether a segment of a URI could be read as this one of a template; for a variable, as far as its type tells. */
function couldBe(literal: string, segment: UriSegment, { variables }: FreeTemplate): boolean {
  if ("literal" in segment) return literal === segment.literal;
  const variable = variables.find(({ name }) => name === segment.variable);
  return variable !== undefined && readVariable(literal, variable) !== undefined;
}

/** Whether some URI could be of both. Of two variables that is taken for granted. */
function overlap(left: FreeTemplate, right: FreeTemplate): boolean {
  if (left.segments.length !== right.segments.length) return false;
  return left.segments.every((segment, index) => {
    const other = right.segments[index];
    if (other === undefined) return false;
    if ("literal" in segment) return couldBe(segment.literal, other, right);
    return !("literal" in other) || couldBe(other.literal, segment, left);
  });
}

/** Refuses templates of their own that overlap: which of them answered would be a matter of their order. */
function assertApart(templates: readonly FreeTemplate[]): void {
  for (const [index, template] of templates.entries()) {
    const owner = templates.slice(0, index).find((other) => overlap(other, template));
    if (owner !== undefined) throw refuse(template.origin, template.uriTemplate, owner.origin);
  }
}

/**
 * Refuses entries of different origins that one URI would name. A fixed URI may be one that a template describes too: it
 * is read first.
 *
 * @throws SurfaceError `NAME_COLLISION` naming both origins.
 */
function assertUrisDiffer(resources: readonly ResourceEntry[], templates: readonly TemplateEntry[]): void {
  const taken = new Map<string, string>();
  const claims = [
    ...resources.map(({ uri, origin }) => ({ uri, origin })),
    ...templates.filter((template) => !isFree(template)).map(({ base, origin }) => ({ uri: base, origin })),
  ];
  for (const { uri, origin } of claims) {
    const owner = taken.get(uri);
    // A collection is a list and a template, under one URI.
    if (owner !== undefined && owner !== origin) throw refuse(origin, uri, owner);
    taken.set(uri, origin);
  }
  assertApart(templates.filter(isFree));
}

/** What a catalog is made from. */
interface CatalogSource {
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
  const { channel, client, scopes, uriPrefix } = source;
  const exposed = { key, member, effect, options, channel, client, scopes, uri: `${uriPrefix}${key}` };
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

function addResource(entries: Entries, { resource, template, pages }: ResourceEntries): void {
  if (resource !== undefined) entries.resources.push(resource);
  if (template !== undefined) entries.templates.push(template);
  if (pages !== undefined) entries.templates.push(pages);
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

/** A catalog with what is mounted: these are all its resources then, and all its tools. */
export function withMounted(
  catalog: Catalog,
  { resources, indexed }: { readonly resources: readonly ResourceEntry[]; readonly indexed: IndexedTools },
): Catalog {
  return toCatalog({ ...catalog, resources }, catalog, indexed);
}

/** Resources of a catalog and further ones, as {@link withMounted} takes them. */
export function sortResources(
  { resources }: Pick<Catalog, "resources">,
  more: readonly ResourceEntry[],
): readonly ResourceEntry[] {
  return sortFrozen([...resources, ...more], ({ uri }) => uri);
}

function once<TValue extends object>(make: () => TValue): () => TValue {
  let made: TValue | undefined;
  return () => (made ??= make());
}

function toCatalog(
  listed: Listed,
  { uriPrefix, scopes }: Pick<ScopedSource, "uriPrefix" | "scopes">,
  indexed: IndexedTools = indexTools(listed.tools),
): Catalog {
  const { resources, templates, prompts } = listed;
  const { tools } = indexed;
  const promptsByName = indexNames(prompts);
  const allScopes = once(() => toCatalogScopes(scopes, [tools, resources, templates, prompts]));
  const warnings = once(() => entryWarnings(tools, [...resources, ...templates]));
  return Object.freeze({
    tools,
    resources: sortFrozen(resources, (resource) => resource.uri),
    templates: sortFrozen(templates, (template) => template.uriTemplate),
    prompts: sortFrozen(prompts, (prompt) => prompt.name),
    tool: indexed.tool,
    toolOf: indexed.toolOf,
    prompt: (name: string) => promptsByName.get(name),
    uriPrefix,
    // Made when somebody asks: of thousands of tools, of which one comes and another goes, nobody may ever.
    get scopes() {
      return allScopes();
    },
    get warnings() {
      return warnings();
    },
  });
}

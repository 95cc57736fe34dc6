import { authorise } from "../call/authorise.ts";
import { lacksAuthority } from "../call/nesting.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { LiveCatalog } from "../catalog/mounts/live-catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { isGlob, toMatcher, type Named } from "../catalog/glob.ts";
import { SurfaceError } from "../errors.ts";
import { globPrefix, nearNames } from "../options/known-names.ts";
import { escapeLogLines } from "../schema/visible-text.ts";
import type { Caller } from "../surface/caller.ts";
import type { Views } from "../views/views.ts";
import type { ViewPacket, ViewRule } from "../views/view-rules.ts";
import type { AppDefinition } from "./app-definition.ts";

/** The maximum number of warnings of one sort, and of patterns and tools that are tested for them. */
const maxWarnings = 32;
const maxTestedPatterns = 2000;
const maxTestedTools = 500;

/** The maximum number of warnings of one app, whose rules a program may replace again and again. */
const maxWritten = 1024;

/** A pattern and its place in the author's code or rules. */
interface PlacedPattern {
  readonly pattern: string;
  readonly where: string;
}

function namesOf(entries: readonly Named[]): readonly string[] {
  return [...new Set(entries.flatMap(({ id, name = id }) => [name, id]))].toSorted();
}

/** Returns similar names as the end of a sentence, or an empty text. */
function hintOf(name: string, names: readonly string[]): string {
  const near = nearNames(name, names).map((each) => `"${each}"`);
  return near.length === 0 ? "" : `; near it are ${near.join(", ")}`;
}

/** Returns whether a pattern may be meant for mounted entries, whose names are known only while they exist. */
function mayBeMounted(pattern: string, prefixes: readonly string[]): boolean {
  // A mount without a prefix may have any name.
  if (prefixes.includes("")) return true;
  const head = globPrefix(pattern);
  return prefixes.some((prefix) =>
    [`${prefix}.`, `${prefix}_`, `${prefix}/`].some(
      (begin) => head.startsWith(begin) || (head !== pattern && begin.startsWith(head)),
    ),
  );
}

/** Returns a warning, with similar names of `entries`, for each pattern that matches none. */
function unmatchedWarnings(
  placed: readonly PlacedPattern[],
  entries: readonly Named[],
  fits: (pattern: string) => boolean,
): readonly string[] {
  const tested = placed.slice(0, maxTestedPatterns);
  const unmatched = tested.filter(({ pattern }) => !fits(pattern)).slice(0, maxWarnings);
  const names = unmatched.length === 0 ? [] : namesOf(entries);
  return unmatched.map(({ pattern, where }) => {
    return `the pattern "${pattern}" in ${where} matches nothing${hintOf(pattern, names)}`;
  });
}

function patternsOf({ id: packet }: ViewPacket, rule: ViewRule, number: number): readonly PlacedPattern[] {
  const { verdict, id = `${number}` } = rule;
  if (verdict.kind === "deny") return [];
  return (["allow", "disallow"] as const).flatMap((field) =>
    (verdict[field] ?? []).map((pattern) => ({ pattern, where: `"${field}" of rule "${id}" of packet "${packet}"` })),
  );
}

/**
 * Returns warnings about patterns in view rules that match no entry. Not an error, since entries may be exposed later.
 *
 * @param mounted - the prefixes of mounts, whose patterns are not tested.
 */
export function viewWarnings(views: Views, catalog: Catalog, mounted: readonly string[] = []): readonly string[] {
  const { tools, prompts, resources, templates } = catalog;
  const others: readonly Named[] = [...prompts, ...resources, ...templates];
  const { server } = views.decide({ surface: "default" });
  const fits = (pattern: string): boolean => {
    const [ofTool, ofOther] = [toMatcher([pattern], server), toMatcher([pattern])];
    const isFit = tools.some((tool) => ofTool(tool) !== undefined) || others.some((one) => ofOther(one) !== undefined);
    // Skills are in no catalog.
    return isFit || pattern.startsWith("skills/") || mayBeMounted(pattern, mounted);
  };
  const placed = views.installed.packets.flatMap((packet) =>
    packet.rules.flatMap((rule, index) => patternsOf(packet, rule, index + 1)),
  );
  return unmatchedWarnings(placed, [...tools, ...others], fits);
}

function fitsSome(pattern: string, catalog: Catalog): boolean {
  if (!isGlob(pattern)) return (catalog.toolOf(pattern) ?? catalog.tool(pattern)) !== undefined;
  const fits = toMatcher([pattern]);
  return catalog.tools.some((each) => fits(each) !== undefined);
}

/**
 * Refuses an unknown tool in the `canCall` of a hand-written tool. Neither names nor `canCall` of mounted tools are checked, since
 * these come and go.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertReach(tools: AppDefinition["tools"], catalog: Catalog, mounted: readonly string[]): void {
  for (const [name, { canCall = [] }] of tools) {
    const isFit = (pattern: string): boolean => mayBeMounted(pattern, mounted) || fitsSome(pattern, catalog);
    const unknown = canCall.find((pattern) => !isGlob(pattern) && !isFit(pattern));
    if (unknown === undefined) continue;
    throw new SurfaceError(
      "INVALID_OPTION",
      `Cannot add tool "${name}": its "canCall" has "${unknown}", which is not a tool of this app${hintOf(unknown, namesOf(catalog.tools))}`,
    );
  }
}

/** Returns the reason why a tool may call no tool that its `canCall` matches; `undefined` if it may, or nothing matches. */
function powerless(by: ToolEntry, { tools }: Catalog): string | undefined {
  const fits = toMatcher(by.canCall ?? []);
  const agent: Caller = { id: by.id, isAnonymous: false, isTool: true, scopes: by.callScopes ?? [] };
  let first: ToolEntry | undefined;
  for (const tool of tools) {
    if (tool === by || fits(tool) === undefined) continue;
    if (authorise(agent, tool) === undefined) return undefined;
    first ??= tool;
  }
  return (
    first &&
    `${by.origin} may call no tool that its "canCall" matches: for "${first.id}", ${lacksAuthority(first, agent)}`
  );
}

/** Returns warnings about tools whose `canCall` matches no tool, or whose `callScopes` is enough for none. */
function reachWarnings(catalog: Catalog, mounted: readonly string[]): readonly string[] {
  const { tools } = catalog;
  const placed = tools.flatMap(({ canCall = [], origin }) =>
    canCall.map((pattern) => ({ pattern, where: `"canCall" of ${origin}` })),
  );
  const fits = (pattern: string): boolean => mayBeMounted(pattern, mounted) || fitsSome(pattern, catalog);
  const isKnown = ({ canCall = [] }: ToolEntry): boolean =>
    canCall.length > 0 && !canCall.some((pattern) => mayBeMounted(pattern, mounted));
  const lacking = tools
    .filter(isKnown)
    .slice(0, maxTestedTools)
    .flatMap((tool) => powerless(tool, catalog) ?? []);
  return [...unmatchedWarnings(placed, tools, fits), ...lacking.slice(0, maxWarnings)];
}

/** Writes each warning once, at boot and after each change of the rules. Returns a function that stops it. */
export function warnAuthor(live: LiveCatalog, views: Views, mounted: readonly string[]): () => void {
  const written = new Set<string>();
  const write = (warnings: readonly string[]): void => {
    for (const warning of warnings) {
      if (written.has(warning) || written.size >= maxWritten) continue;
      written.add(warning);
      // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
      console.error(escapeLogLines(`[surface-mcp] warning: ${warning}`));
    }
  };
  const { current } = live;
  write([...current.warnings, ...reachWarnings(current, mounted), ...viewWarnings(views, current, mounted)]);
  return views.subscribe(() => write(viewWarnings(views, live.current, mounted)));
}

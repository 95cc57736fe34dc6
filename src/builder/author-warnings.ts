import { authorise } from "../call/authorise.ts";
import { lacksAuthority } from "../call/why-not-there.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { isGlob, toMatcher } from "../catalog/glob.ts";
import type { LiveCatalog } from "../catalog/live-catalog.ts";
import { SurfaceError } from "../errors.ts";
import { visibleLines } from "../schema/visible-text.ts";
import type { Views } from "../views/create-views.ts";
import {
  hintOf,
  mayBeMounted,
  namesOf,
  unmatchedPatternWarning,
  viewWarnings,
  type PlacedPattern,
} from "../views/pattern-warnings.ts";
import type { AppDefinition } from "./app-definition.ts";

/** The maximum number of warnings of one sort, and of patterns that are tested for them. */
const maxWarnings = 32;
const maxTested = 500;

/** The maximum number of warnings of one app: a machine may write other rules again and again. */
const maxWritten = 1024;

function fitsSome(pattern: string, catalog: Catalog): boolean {
  if (!isGlob(pattern)) return (catalog.toolOf(pattern) ?? catalog.tool(pattern)) !== undefined;
  const fits = toMatcher([pattern]);
  return catalog.tools.some((each) => fits(each) !== undefined);
}

function unmatchedPatterns(catalog: Catalog, mounted: readonly string[]): readonly PlacedPattern[] {
  return catalog.tools
    .flatMap(({ reach = [], origin }) => reach.map((pattern) => ({ pattern, where: `"reach" of ${origin}` })))
    .slice(0, maxTested)
    .filter(({ pattern }) => !mayBeMounted(pattern, mounted) && !fitsSome(pattern, catalog))
    .slice(0, maxWarnings);
}

/**
 * Refuses a name in the `reach` of a hand-written tool that no tool of the app has. Tools of mounts come and go, so neither their
 * names nor their own `reach` are checked here.
 *
 * @param mounted - the prefixes of mounts.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertReach(tools: AppDefinition["tools"], catalog: Catalog, mounted: readonly string[]): void {
  for (const [name, { reach = [] }] of tools) {
    const unknown = reach.find(
      (pattern) => !isGlob(pattern) && !mayBeMounted(pattern, mounted) && !fitsSome(pattern, catalog),
    );
    if (unknown === undefined) continue;
    throw new SurfaceError(
      "INVALID_OPTION",
      `Cannot add tool "${name}": its "reach" names "${unknown}", which is not a tool of this app${hintOf(unknown, namesOf(catalog.tools))}`,
    );
  }
}

/** Why a tool may call nothing of all that its reach fits; `undefined` where it may, or where nothing fits. */
function powerless(by: ToolEntry, { tools }: Catalog): string | undefined {
  const fits = toMatcher(by.reach ?? []);
  const agent: Caller = { id: by.id, isAnonymous: false, isTool: true, scopes: by.authority ?? [] };
  let first: ToolEntry | undefined;
  for (const tool of tools) {
    if (tool === by || fits(tool) === undefined) continue;
    if (authorise(agent, tool) === undefined) return undefined;
    first ??= tool;
  }
  return (
    first && `${by.origin} may call nothing that its "reach" fits: for "${first.id}", ${lacksAuthority(first, agent)}`
  );
}

/** Returns warnings about tools that call others: their `reach` fits no tool, or their authority is enough for none within it. */
function reachWarnings(catalog: Catalog, mounted: readonly string[]): readonly string[] {
  const unmatched = unmatchedPatterns(catalog, mounted);
  const names = unmatched.length === 0 ? [] : namesOf(catalog.tools);
  const isKnown = ({ reach = [] }: ToolEntry): boolean =>
    reach.length > 0 && !reach.some((pattern) => mayBeMounted(pattern, mounted));
  const lacking = catalog.tools
    .filter(isKnown)
    .slice(0, maxTested)
    .flatMap((tool) => powerless(tool, catalog) ?? []);
  return [...unmatched.map((each) => unmatchedPatternWarning(each, names)), ...lacking.slice(0, maxWarnings)];
}

/**
 * Warns the author of what works but may not be meant, at boot and when other rules come. Each warning is written once.
 *
 * @param mounted - the prefixes of mounts: patterns for mounted entries are not tested.
 * @returns a function that stops it.
 */
export function warnAuthor(live: LiveCatalog, views: Views, mounted: readonly string[]): () => void {
  const written = new Set<string>();
  const write = (warnings: readonly string[]): void => {
    for (const warning of warnings) {
      if (written.has(warning) || written.size >= maxWritten) continue;
      written.add(warning);
      // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
      console.error(visibleLines(`[surface-mcp] warning: ${warning}`));
    }
  };
  const { current } = live;
  write([...current.warnings, ...reachWarnings(current, mounted), ...viewWarnings(views, current, mounted)]);
  return views.subscribe(() => write(viewWarnings(views, live.current, mounted)));
}

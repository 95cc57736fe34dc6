import { authorise } from "../call/authorise.ts";
import { lacksAuthority } from "../call/why-not-there.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { isGlob, toMatcher } from "../catalog/glob.ts";
import { SurfaceError } from "../errors.ts";
import { mayBeMounted } from "../views/may-be-mounted.ts";
import { hintOf, namesOf, toVainWarning, type PlacedPattern } from "../views/vain-pattern.ts";
import type { AppDefinition } from "./app-definition.ts";

/** How many warnings of a sort are told, and how many patterns are held against the catalog for them. */
const maxWarnings = 32;
const maxLooked = 500;

function fitsSome(pattern: string, catalog: Catalog): boolean {
  if (!isGlob(pattern)) return (catalog.toolOf(pattern) ?? catalog.tool(pattern)) !== undefined;
  const fits = toMatcher([pattern]);
  return catalog.tools.some((each) => fits(each) !== undefined);
}

function vainPatterns(catalog: Catalog, mounted: readonly string[]): readonly PlacedPattern[] {
  return catalog.tools
    .flatMap(({ reach = [], origin }) => reach.map((pattern) => ({ pattern, where: `"reach" of ${origin}` })))
    .slice(0, maxLooked)
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

/**
 * Sentences for the author about tools that call others: about a reach that fits nothing, with names that are near, and about an
 * authority that is not enough for anything within it. Never a reason to fail: what they are for may be there later.
 *
 * @param mounted - the prefixes of mounts: what a pattern may fit there is not known.
 */
export function reachWarnings(catalog: Catalog, mounted: readonly string[]): readonly string[] {
  const vain = vainPatterns(catalog, mounted);
  const names = vain.length === 0 ? [] : namesOf(catalog.tools);
  const known = ({ reach = [] }: ToolEntry): boolean =>
    reach.length > 0 && !reach.some((pattern) => mayBeMounted(pattern, mounted));
  const lacking = catalog.tools
    .filter(known)
    .slice(0, maxLooked)
    .flatMap((tool) => powerless(tool, catalog) ?? []);
  return Object.freeze([...vain.map((each) => toVainWarning(each, names)), ...lacking.slice(0, maxWarnings)]);
}

import type { Catalog } from "../catalog/catalog.ts";
import { toMatcher, type Named } from "../catalog/glob.ts";
import { headOf, nearNames } from "../options/near-names.ts";
import type { Views } from "./create-views.ts";
import { packetsOf } from "./describe-views.ts";
import type { ViewPacket, ViewRule } from "./view-rules.ts";

/** The maximum number of warnings, and of patterns that are tested for them. */
const maxWarnings = 32;
const maxTested = 2000;

/** A pattern and its place in the author's code or rules. */
export interface PlacedPattern {
  readonly pattern: string;
  readonly where: string;
}

/** Returns all names and ids of entries, sorted. */
export function namesOf(entries: readonly Named[]): readonly string[] {
  return [...new Set(entries.flatMap(({ id, name = id }) => [name, id]))].toSorted();
}

/** Returns the end of a sentence about an unknown name: similar names, or nothing. */
export function hintOf(name: string, names: readonly string[]): string {
  const near = nearNames(name, names).map((each) => `"${each}"`);
  return near.length === 0 ? "" : `; near it are ${near.join(", ")}`;
}

/** Returns the warning about a pattern that fits no entry, with similar names. */
export function unmatchedPatternWarning({ pattern, where }: PlacedPattern, names: readonly string[]): string {
  return `the pattern "${pattern}" in ${where} fits nothing${hintOf(pattern, names)}`;
}

/**
 * Tells whether a pattern may be meant for mounted entries, whose names are known only while they are there.
 *
 * @param prefixes - the prefixes of mounts.
 */
export function mayBeMounted(pattern: string, prefixes: readonly string[]): boolean {
  // A mount without a prefix may have any name.
  if (prefixes.includes("")) return true;
  const head = headOf(pattern);
  return prefixes.some((prefix) =>
    [`${prefix}.`, `${prefix}_`, `${prefix}/`].some(
      (begin) => head.startsWith(begin) || (head !== pattern && begin.startsWith(head)),
    ),
  );
}

function patternsOf({ id: packet }: ViewPacket, rule: ViewRule, number: number): readonly PlacedPattern[] {
  const { verdict, id = `${number}` } = rule;
  if (verdict.kind === "deny") return [];
  return (["allow", "disallow"] as const).flatMap((field) =>
    (verdict[field] ?? []).map((pattern) => ({ pattern, where: `"${field}" of rule "${id}" of packet "${packet}"` })),
  );
}

/**
 * Returns warnings for the author about patterns in view rules that fit no entry. The entries may be exposed later, so this is no error.
 *
 * @param mounted - the prefixes of mounts: patterns for mounted entries are not tested.
 */
export function viewWarnings(views: Views, catalog: Catalog, mounted: readonly string[] = []): readonly string[] {
  const { tools, prompts, resources, templates } = catalog;
  const others: readonly Named[] = [...prompts, ...resources, ...templates];
  const { server } = views.decide({ surface: "default" });
  const fits = (pattern: string): boolean => {
    const fitsTool = toMatcher([pattern], server);
    const fitsOther = toMatcher([pattern]);
    return tools.some((tool) => fitsTool(tool) !== undefined) || others.some((other) => fitsOther(other) !== undefined);
  };
  const placed = packetsOf(views).flatMap((packet) =>
    packet.rules.flatMap((rule, index) => patternsOf(packet, rule, index + 1)),
  );
  const unmatched = placed
    .slice(0, maxTested)
    .filter(({ pattern }) => !mayBeMounted(pattern, mounted) && !fits(pattern))
    .slice(0, maxWarnings);
  if (unmatched.length === 0) return [];
  const names = namesOf([...tools, ...others]);
  return Object.freeze(unmatched.map((each) => unmatchedPatternWarning(each, names)));
}

import type { Catalog } from "../catalog/catalog.ts";
import { toMatcher, type Named } from "../catalog/glob.ts";
import type { Views } from "./decision.ts";
import { packetsOf } from "./list-views.ts";
import { headOf, nearNames } from "./near-names.ts";
import type { ViewPacket, ViewRule } from "./view-rules.ts";

/** How many warnings are told, and how many patterns are held against the catalog for them. */
const maxWarnings = 32;
const maxLooked = 2000;

/** One pattern, and where it stands. */
interface Placed {
  readonly pattern: string;
  readonly where: string;
}

function patternsOf({ id: packet }: ViewPacket, rule: ViewRule, number: number): readonly Placed[] {
  const { verdict, id = `${number}` } = rule;
  if (verdict.kind === "deny") return [];
  return (["allow", "disallow"] as const).flatMap((field) =>
    (verdict[field] ?? []).map((pattern) => ({ pattern, where: `"${field}" of rule "${id}" of packet "${packet}"` })),
  );
}

/** Whether a pattern may be meant for what is mounted: what that is called is not known before it is there. */
function mayBeMounted(pattern: string, prefixes: readonly string[]): boolean {
  const head = headOf(pattern);
  return prefixes.some((prefix) =>
    [`${prefix}.`, `${prefix}_`].some(
      (begin) => head.startsWith(begin) || (head !== pattern && begin.startsWith(head)),
    ),
  );
}

function namesOf(entries: readonly Named[]): readonly string[] {
  return [...new Set(entries.flatMap(({ id, name = id }) => [name, id]))].toSorted();
}

function toWarning({ pattern, where }: Placed, names: readonly string[]): string {
  const near = nearNames(pattern, names).map((name) => `"${name}"`);
  const hint = near.length === 0 ? "" : `; near it are ${near.join(", ")}`;
  return `the pattern "${pattern}" in ${where} fits nothing${hint}`;
}

/**
 * Sentences for the author about patterns that fit nothing of a catalog, with names that are near. Never a reason to fail: what
 * they are for may be exposed later.
 *
 * @param mounted - the prefixes of mounts: what a pattern may fit there is not known.
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
  const vain = placed
    .slice(0, maxLooked)
    .filter(({ pattern }) => !mayBeMounted(pattern, mounted) && !fits(pattern))
    .slice(0, maxWarnings);
  if (vain.length === 0) return [];
  const names = namesOf([...tools, ...others]);
  return Object.freeze(vain.map((each) => toWarning(each, names)));
}

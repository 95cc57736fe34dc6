import type { Catalog } from "../catalog/catalog.ts";
import { toMatcher, type Named } from "../catalog/glob.ts";
import type { Views } from "./decision.ts";
import { packetsOf } from "./list-views.ts";
import { mayBeMounted } from "./may-be-mounted.ts";
import { namesOf, toVainWarning, type PlacedPattern } from "./vain-pattern.ts";
import type { ViewPacket, ViewRule } from "./view-rules.ts";

/** How many warnings are told, and how many patterns are held against the catalog for them. */
const maxWarnings = 32;
const maxLooked = 2000;

function patternsOf({ id: packet }: ViewPacket, rule: ViewRule, number: number): readonly PlacedPattern[] {
  const { verdict, id = `${number}` } = rule;
  if (verdict.kind === "deny") return [];
  return (["allow", "disallow"] as const).flatMap((field) =>
    (verdict[field] ?? []).map((pattern) => ({ pattern, where: `"${field}" of rule "${id}" of packet "${packet}"` })),
  );
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
  return Object.freeze(vain.map((each) => toVainWarning(each, names)));
}

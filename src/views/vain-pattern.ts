import type { Named } from "../catalog/glob.ts";
import { nearNames } from "../tags/near-names.ts";

/** One pattern, and where it stands. */
export interface PlacedPattern {
  readonly pattern: string;
  readonly where: string;
}

/** All that some entries are called, each once, sorted. */
export function namesOf(entries: readonly Named[]): readonly string[] {
  return [...new Set(entries.flatMap(({ id, name = id }) => [name, id]))].toSorted();
}

/** A sentence for the author about a pattern that fits nothing, with names that are near. */
export function toVainWarning({ pattern, where }: PlacedPattern, names: readonly string[]): string {
  const near = nearNames(pattern, names).map((name) => `"${name}"`);
  const hint = near.length === 0 ? "" : `; near it are ${near.join(", ")}`;
  return `the pattern "${pattern}" in ${where} fits nothing${hint}`;
}

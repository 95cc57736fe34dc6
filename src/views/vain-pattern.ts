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

/** The end of a sentence about a name that does not exist: the names near it, or nothing. */
export function hintOf(name: string, names: readonly string[]): string {
  const near = nearNames(name, names).map((each) => `"${each}"`);
  return near.length === 0 ? "" : `; near it are ${near.join(", ")}`;
}

/** A sentence for the author about a pattern that fits nothing, with names that are near. */
export function toVainWarning({ pattern, where }: PlacedPattern, names: readonly string[]): string {
  return `the pattern "${pattern}" in ${where} fits nothing${hintOf(pattern, names)}`;
}

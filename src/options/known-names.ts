import { SurfaceError } from "../errors.ts";
import { isRecord } from "./is-object.ts";

// Characters of an unknown name that an error shows.
const maxShown = 64;
// Edits between a misspelt name and a known one.
const maxEdits = 2;
// Characters that a glob and a near name share at the beginning.
const sharedLength = 3;
const maxSearched = 2000;
const maxNear = 5;

/** Returns the end of an error about an unknown name: the near names, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const lower = name.toLowerCase();
  const same = known.filter((one) => one.toLowerCase() === lower);
  // Two edits turn any short name into any other.
  const near = known.filter((one) => Math.min(name.length, one.length) > 3 && isNear(name, one));
  const found = (same.length > 0 ? same : near).map((one) => `"${one}"`);
  return found.length === 0 ? "" : `; did you mean ${found.join(" or ")}?`;
}

/** Returns the problem with the first own name that is not known, and its near names. */
export function findUnknownName(options: object, known: readonly string[]): string | undefined {
  const name = Object.keys(options)
    .find((one) => !known.includes(one))
    ?.slice(0, maxShown);
  if (name === undefined) return undefined;
  return `"${name}" is not an option${didYouMean(name, known) || `; known options: "${known.join('", "')}"`}`;
}

/**
 * Refuses an option that does not exist: a misspelt one could leave open access that its author meant to close. `readOptions()` calls
 * it. Call it yourself only if you check nothing but the names.
 *
 * @param known - the names of all options. Write `Object.keys({ … } satisfies Record<keyof Options, true>)`, so that the compiler
 * finds a missing one.
 * @param doing - the action of the caller, the start of the message: `Serving over stdio`.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertKnownOptions(
  options: unknown,
  known: readonly string[],
  doing: string,
): asserts options is object {
  const problem = isRecord(options) ? findUnknownName(options, known) : "its options must be an object";
  if (problem !== undefined) throw new SurfaceError("INVALID_OPTION", `${doing}: ${problem}`);
}

/** Computes the next row of edit distances, after one more character of a name. */
function nextRow(row: readonly number[], character: string | undefined, wanted: string): readonly number[] {
  const next = [(row[0] ?? 0) + 1];
  for (let index = 0; index < wanted.length; index++) {
    const replaced = (row[index] ?? 0) + (wanted[index] === character ? 0 : 1);
    next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
  }
  return next;
}

/** Returns true for two names at most `edits` apart. */
export function isNear(name: string, wanted: string, edits: number = maxEdits): boolean {
  if (Math.abs(name.length - wanted.length) > edits) return false;
  let row: readonly number[] = Array.from({ length: wanted.length + 1 }, (_, index) => index);
  for (const character of name) {
    row = nextRow(row, character, wanted);
    if (Math.min(...row) > edits) return false;
  }
  return (row.at(-1) ?? 0) <= edits;
}

/** Returns the characters of a glob before its first wildcard. */
export function globPrefix(pattern: string): string {
  return pattern.slice(0, Math.max(0, `${pattern}*`.search(/[*?]/)));
}

/** Returns at most five names near a glob without matches. Searches a bounded number of names. */
export function nearNames(pattern: string, names: readonly string[]): readonly string[] {
  const head = globPrefix(pattern);
  const begins = head.length >= sharedLength ? head.slice(0, sharedLength) : undefined;
  const near = names.slice(0, maxSearched).filter((name) => {
    if (begins !== undefined && name.startsWith(begins)) return true;
    return isNear(name, pattern) || (begins !== undefined && isNear(name.slice(0, head.length), head));
  });
  return near.slice(0, maxNear);
}

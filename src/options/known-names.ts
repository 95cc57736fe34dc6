import { SurfaceError } from "../errors.ts";
import { isRecord } from "./is-object.ts";
import { isNear } from "./near-names.ts";

/** The longest part of an unknown name that an error shows. */
const maxShown = 64;

/** Returns the end of a sentence about an unknown name: the names that may have been meant, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const lower = name.toLowerCase();
  const same = known.filter((one) => one.toLowerCase() === lower);
  // Two edits make any short name of any other.
  const near = known.filter((one) => Math.min(name.length, one.length) > 3 && isNear(name, one));
  const meant = (same.length > 0 ? same : near).map((one) => `"${one}"`);
  return meant.length === 0 ? "" : `; did you mean ${meant.join(" or ")}?`;
}

/** Returns the problem with the first own name that is not known, and the names that may have been meant. */
export function findUnknownName(options: object, known: readonly string[]): string | undefined {
  const name = Object.keys(options)
    .find((one) => !known.includes(one))
    ?.slice(0, maxShown);
  if (name === undefined) return undefined;
  return `"${name}" is not an option${didYouMean(name, known) || `; known options: "${known.join('", "')}"`}`;
}

/**
 * Refuses an option that does not exist: a misspelt one could open what its author meant to close. `readOptions()` calls it. Call
 * it yourself only where a schema says nothing more than the names.
 *
 * @param known - the names of all options. Write them as `Object.keys({ … } satisfies Record<keyof Options, true>)`, so that the
 * compiler finds a missing one.
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

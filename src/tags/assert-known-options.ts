import { SurfaceError } from "../errors.ts";
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

/**
 * Refuses an option that does not exist: a misspelt one could open what its author meant to close. Every public function
 * with options calls it.
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
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new SurfaceError("INVALID_OPTION", `${doing}: its options must be an object`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const shown = name.slice(0, maxShown);
    const hint = didYouMean(shown, known) || `; known options: "${known.join('", "')}"`;
    throw new SurfaceError("INVALID_OPTION", `${doing}: "${shown}" is not an option${hint}`);
  }
}

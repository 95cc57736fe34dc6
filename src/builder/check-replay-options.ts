import { assertKnownOptions } from "../tags/assert-known-options.ts";
import { SurfaceError } from "../errors.ts";

/** Finds what is wrong with one option's value; `undefined` where nothing is. */
type Check = (value: unknown) => string | undefined;

const doing = "Calling replay()";

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const text: Check = (value) =>
  typeof value === "string" && value !== "" ? undefined : "must be a text that is not empty";
const somebody: Check = (value) => (isObject(value) ? undefined : "must be an object");

const checks: ReadonlyMap<string, Check> = new Map([
  ["surface", text],
  ["project", text],
  ["caller", somebody],
]);

/**
 * Refuses what `app.replay()` cannot be asked with: one that is misspelled would tell of another view than was meant.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function checkReplayOptions(options: unknown): void {
  if (options === undefined) return;
  assertKnownOptions(options, [...checks.keys()], doing);
  for (const [name, value] of Object.entries(options)) {
    const problem = value === undefined ? undefined : checks.get(name)?.(value);
    if (problem !== undefined) throw new SurfaceError("INVALID_OPTION", `${doing}: "${name}" ${problem}`);
  }
}

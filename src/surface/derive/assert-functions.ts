import { assertKnownOptions } from "../../tags/assert-known-options.ts";
import { SurfaceError } from "../../errors.ts";

/** What {@link assertFunctions} says, and knows of. */
interface Known {
  readonly doing: string;
  readonly names: readonly string[];
}

/**
 * Refuses options of which one would be left out of account: each is a function, under one of some names.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertFunctions(options: unknown, { doing, names }: Known): void {
  assertKnownOptions(options, names, doing);
  for (const [name, option] of Object.entries(options)) {
    if (option !== undefined && typeof option !== "function") {
      throw new SurfaceError("INVALID_OPTION", `${doing}: "${name}" must be a function`);
    }
  }
}

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
  if (typeof options !== "object" || options === null) {
    throw new SurfaceError("INVALID_OPTION", `${doing}: its options must be an object`);
  }
  const said = names.map((name) => `"${name}"`).join(" and ");
  for (const [name, option] of Object.entries(options)) {
    if (!names.includes(name)) {
      throw new SurfaceError("INVALID_OPTION", `${doing}: "${name}" is no option; it takes ${said}`);
    }
    if (option !== undefined && typeof option !== "function") {
      throw new SurfaceError("INVALID_OPTION", `${doing}: "${name}" must be a function`);
    }
  }
}

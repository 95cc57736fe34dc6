import { callable } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";

/** The options of a derivation, and its name in messages. */
interface Known {
  readonly doing: string;
  readonly names: readonly string[];
}

/** Refuses options other than functions under some names. @throws SurfaceError `INVALID_OPTION`. */
export function assertFunctions(options: object, { doing, names }: Known): void {
  readOptions<object, object>(options, Object.fromEntries(names.map((name) => [name, callable])), doing);
}

import { SurfaceError } from "../../errors.ts";
import { onRejection } from "../../surface/fault.ts";

/**
 * What an author says of something, asked for at once: what came later would not be there in time, and may be what keeps somebody
 * out.
 *
 * @throws SurfaceError `INVALID_OPTION`, and what the author's function throws.
 */
export function saidBy<TWords extends object>(
  say: ((name: string) => TWords | undefined) | undefined,
  name: string,
): TWords | undefined {
  const words = say?.(name);
  if (words === undefined) return undefined;
  if (typeof words === "object" && words !== null && !("then" in words)) return words;
  onRejection(words, () => {});
  throw new SurfaceError("INVALID_OPTION", "what is said of it must be an object, or nothing");
}

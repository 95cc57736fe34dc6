import type { Caller } from "../catalog/caller.ts";
import type { EntryGuard } from "../catalog/entry.ts";

/**
 * Decides whether a caller may use an entry: the only place that does. `undefined`: they may; else everything that the
 * entry asks for, so that one more consent is enough. Nothing is asked of who is anonymous: whoever serves decides whether
 * anybody may be.
 */
export function authorise(caller: Caller, entry: EntryGuard): readonly string[] | undefined {
  if (caller.isAnonymous || entry.scopes.every((scope) => caller.scopes.includes(scope))) return undefined;
  return entry.scopes;
}

import type { Caller } from "../catalog/caller.ts";
import type { EntryGuard, Requirements } from "../catalog/entry.ts";
import { mayActOn } from "./may-act-on.ts";

/** That a caller lacks something which an entry takes. */
export interface Lack {
  /** All that it takes, so that one more consent is enough; `undefined` where no consent would help. */
  readonly scopes: readonly string[] | undefined;
}

/** What nobody can consent to: it is answered as what does not exist. */
const hopeless: Lack = Object.freeze({ scopes: undefined });

function hasAll(caller: Caller, scopes: readonly string[]): boolean {
  return scopes.every((scope) => caller.scopes.includes(scope));
}

function hasOne(caller: Caller, { scopesAny }: Requirements): boolean {
  return scopesAny.length === 0 || scopesAny.some((scope) => caller.scopes.includes(scope));
}

/** All that an entry takes of scopes; of those of which one is enough, the first. */
function everything({ scopes, requires }: EntryGuard, hasAny: boolean): readonly string[] {
  const [first] = requires?.scopesAny ?? [];
  return hasAny || first === undefined || scopes.includes(first) ? scopes : [...scopes, first];
}

/**
 * Decides whether a caller may use an entry: the only place that does. `undefined`: they may. What its author asks for is
 * asked of everybody; what is asked for by default only of who is known, since whoever serves decides whether anybody else may
 * come. A thing that an argument names is looked at when there are arguments, by {@link mayActOn}.
 */
export function authorise(caller: Caller, entry: EntryGuard): Lack | undefined {
  const { requires } = entry;
  if (requires === undefined) {
    return caller.isAnonymous || hasAll(caller, entry.scopes) ? undefined : { scopes: entry.scopes };
  }
  const { resource } = requires;
  if (resource !== undefined && !mayActOn(caller, resource)) return hopeless;
  const hasAny = hasOne(caller, requires);
  if (hasAny && hasAll(caller, caller.isAnonymous ? requires.scopes : entry.scopes)) return undefined;
  return caller.isAnonymous ? hopeless : { scopes: everything(entry, hasAny) };
}

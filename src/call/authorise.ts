import type { Caller } from "../surface/caller.ts";
import type { EntryGuard } from "../catalog/entry.ts";
import type { Denied } from "../catalog/outcome.ts";
import type { ResourceRequirement } from "../tags/scopes.ts";
import type { CallContext } from "./call-context.ts";

function has(caller: Caller, key: string, action: string): boolean {
  const { resources } = caller;
  if (resources === undefined || !Object.hasOwn(resources, key)) return false;
  return resources[key]?.includes(action) === true;
}

/** Returns whether a caller has a right to any resource of a type. */
function mayActOn(caller: Caller, { type, action }: ResourceRequirement): boolean {
  const prefix = `${type}:`;
  return Object.keys(caller.resources ?? {}).some((key) => key.startsWith(prefix) && has(caller, key, action));
}

/** Returns whether a caller has the right to the resource that a value names. A value that is no name requires the right to all. */
export function mayActOnThing(caller: Caller, { type, action }: ResourceRequirement, value: unknown): boolean {
  const isName = typeof value === "string" || typeof value === "number" || typeof value === "bigint";
  return has(caller, `${type}:*`, action) || (isName && has(caller, `${type}:${value}`, action));
}

/** The rights that a caller lacks for an entry. */
export interface MissingGrant {
  /** All scopes of the entry, so that one consent is enough; `undefined` if no consent would help. */
  readonly scopes: readonly string[] | undefined;
}

/** Such an entry looks as if it did not exist. */
const hopeless: MissingGrant = Object.freeze({ scopes: undefined });

function isExempt({ isAnonymous, isTool }: Caller): boolean {
  return isAnonymous && isTool !== true;
}

function hasAll(caller: Caller, scopes: readonly string[] = []): boolean {
  return scopes.every((scope) => caller.scopes.includes(scope));
}

function hasOne(caller: Caller, scopes: readonly string[] = []): boolean {
  return scopes.length === 0 || scopes.some((scope) => caller.scopes.includes(scope));
}

/** Returns all scopes of an entry, and the first of those of which one is enough. */
function everything({ scopes, requires }: EntryGuard, hasAny: boolean): readonly string[] {
  const [first] = requires?.scopesAny ?? [];
  return hasAny || first === undefined || scopes.includes(first) ? scopes : [...scopes, first];
}

/**
 * Decides whether a caller may use an entry, and returns `undefined` if so. Nothing else decides this. Every caller needs the scopes
 * that an author requires. Anonymous callers do not need the default scopes, since the server decides whether to serve them.
 * {@link mayActOnThing} checks a resource that an argument names.
 */
export function authorise(caller: Caller, entry: EntryGuard): MissingGrant | undefined {
  const { requires } = entry;
  if (requires?.resource !== undefined && !mayActOn(caller, requires.resource)) return hopeless;
  const hasAny = hasOne(caller, requires?.scopesAny);
  if (hasAny && hasAll(caller, isExempt(caller) ? requires?.scopes : entry.scopes)) return undefined;
  return caller.isAnonymous ? hopeless : { scopes: everything(entry, hasAny) };
}

/** Finishes the call of a caller who may not use an entry, and returns its answer; `undefined` if the caller may. */
export function deny(entry: EntryGuard, call: CallContext): Denied | undefined {
  const missing = authorise(call.caller, entry);
  if (missing === undefined) return undefined;
  call.finish();
  return { kind: "denied", scopes: missing.scopes };
}

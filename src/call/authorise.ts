import type { Caller } from "../surface/caller.ts";
import type { EntryGuard, Requirements } from "../catalog/entry.ts";
import type { Denied } from "../catalog/outcome.ts";
import type { ResourceRequirement } from "../tags/scopes.ts";
import type { CallContext } from "./call-context.ts";

function has(caller: Caller, key: string, action: string): boolean {
  const { resources } = caller;
  if (resources === undefined || !Object.hasOwn(resources, key)) return false;
  return resources[key]?.includes(action) === true;
}

/** Returns whether a caller may do something to any thing of a type. */
function mayActOn(caller: Caller, { type, action }: ResourceRequirement): boolean {
  const prefix = `${type}:`;
  return Object.keys(caller.resources ?? {}).some((key) => key.startsWith(prefix) && has(caller, key, action));
}

/** Returns whether a caller may act on the thing that a value names. Without a name it takes the right to all things of the type. */
export function mayActOnThing(caller: Caller, { type, action }: ResourceRequirement, value: unknown): boolean {
  const isName = typeof value === "string" || typeof value === "number" || typeof value === "bigint";
  return has(caller, `${type}:*`, action) || (isName && has(caller, `${type}:${value}`, action));
}

/** The refusal of a caller without a right that an entry takes. */
export interface Lack {
  /** All scopes of the entry, so that one more consent is enough; `undefined` if no consent would help. */
  readonly scopes: readonly string[] | undefined;
}

/** Answered like an entry that does not exist. */
const hopeless: Lack = Object.freeze({ scopes: undefined });

function isExempt({ isAnonymous, isTool }: Caller): boolean {
  return isAnonymous && isTool !== true;
}

function hasAll(caller: Caller, scopes: readonly string[] | undefined): boolean {
  return scopes === undefined || scopes.every((scope) => caller.scopes.includes(scope));
}

function hasOne(caller: Caller, { scopesAny }: Requirements): boolean {
  return scopesAny.length === 0 || scopesAny.some((scope) => caller.scopes.includes(scope));
}

/** Returns all scopes of an entry; of those of which one is enough, the first. */
function everything({ scopes, requires }: EntryGuard, hasAny: boolean): readonly string[] {
  const [first] = requires?.scopesAny ?? [];
  return hasAny || first === undefined || scopes.includes(first) ? scopes : [...scopes, first];
}

/**
 * Decides whether a caller may use an entry: the only place that does. Returns `undefined` if they may. Scopes that an author
 * requires are asked of every caller; the default ones only of known callers and of tools, since a server decides itself whether
 * it serves anonymous callers. {@link mayActOnThing} checks a thing that an argument names.
 */
export function authorise(caller: Caller, entry: EntryGuard): Lack | undefined {
  const { requires } = entry;
  if (requires?.resource !== undefined && !mayActOn(caller, requires.resource)) return hopeless;
  const hasAny = requires === undefined || hasOne(caller, requires);
  if (hasAny && hasAll(caller, isExempt(caller) ? requires?.scopes : entry.scopes)) return undefined;
  return caller.isAnonymous ? hopeless : { scopes: everything(entry, hasAny) };
}

/** Ends the call of a caller who may not use an entry, and returns its answer; `undefined` for a caller who may. */
export function deny(entry: EntryGuard, call: CallContext): Denied | undefined {
  const lack = authorise(call.caller, entry);
  if (lack === undefined) return undefined;
  call.finish();
  return { kind: "denied", scopes: lack.scopes };
}

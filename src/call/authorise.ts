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

/** Whether a caller may do something to any thing of a type. */
function mayActOn(caller: Caller, { type, action }: ResourceRequirement): boolean {
  const prefix = `${type}:`;
  return Object.keys(caller.resources ?? {}).some((key) => key.startsWith(prefix) && has(caller, key, action));
}

/** What an argument names; `undefined` for what names nothing. */
function toId(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

/** Whether a caller may do it to the thing that a value names. What names none takes the right to do it to all of the type. */
export function mayActOnThing(caller: Caller, { type, action }: ResourceRequirement, value: unknown): boolean {
  if (has(caller, `${type}:*`, action)) return true;
  const id = toId(value);
  return id !== undefined && has(caller, `${type}:${id}`, action);
}

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

/** Whether nothing is asked of a caller by default: nobody said who they are, and no tool answers for them. */
function isExempt({ isAnonymous, isTool }: Caller): boolean {
  return isAnonymous && isTool !== true;
}

/** What a caller is told to get; who is anonymous can get nothing. */
function toLack({ isAnonymous }: Caller, scopes: readonly string[]): Lack {
  return isAnonymous ? hopeless : { scopes };
}

/**
 * Decides whether a caller may use an entry: the only place that does. `undefined`: they may. What its author asks for is
 * asked of everybody; what is asked for by default only of who is known and of tools, since whoever serves decides whether
 * anybody else may come. A thing that an argument names is looked at when there are arguments, by {@link mayActOn}.
 */
export function authorise(caller: Caller, entry: EntryGuard): Lack | undefined {
  const { requires } = entry;
  if (requires === undefined) {
    return isExempt(caller) || hasAll(caller, entry.scopes) ? undefined : toLack(caller, entry.scopes);
  }
  const { resource } = requires;
  if (resource !== undefined && !mayActOn(caller, resource)) return hopeless;
  const hasAny = hasOne(caller, requires);
  if (hasAny && hasAll(caller, isExempt(caller) ? requires.scopes : entry.scopes)) return undefined;
  return toLack(caller, everything(entry, hasAny));
}

/** What a caller who may not use an entry is told, whose call is over then; `undefined` for who may. */
export function deny(entry: EntryGuard, call: CallContext): Denied | undefined {
  const lack = authorise(call.caller, entry);
  if (lack === undefined) return undefined;
  call.finish();
  return { kind: "denied", scopes: lack.scopes };
}

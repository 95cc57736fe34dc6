import type { Caller } from "../surface/caller.ts";
import type { ResourceRequirement } from "../tags/scopes.ts";

function has(caller: Caller, key: string, action: string): boolean {
  const { resources } = caller;
  if (resources === undefined || !Object.hasOwn(resources, key)) return false;
  return resources[key]?.includes(action) === true;
}

/** Whether a caller may do something to any thing of a type. */
export function mayActOn(caller: Caller, { type, action }: ResourceRequirement): boolean {
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

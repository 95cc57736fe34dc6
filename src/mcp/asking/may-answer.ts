import { callerKey } from "../../surface/caller-key.ts";
import type { Caller } from "../../surface/caller.ts";

/** Returns whether a caller may answer a question asked of another: the same caller, granted at least as much. */
export function mayAnswer(by: Caller, asked: Caller): boolean {
  if (callerKey(by) !== callerKey(asked)) return false;
  if (!asked.scopes.every((scope) => by.scopes.includes(scope))) return false;
  const { resources = {} } = by;
  return Object.entries(asked.resources ?? {}).every(([name, actions]) => {
    const own = Object.hasOwn(resources, name) ? (resources[name] ?? []) : [];
    return actions.every((action) => own.includes(action));
  });
}

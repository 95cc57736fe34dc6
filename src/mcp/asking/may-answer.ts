import type { Caller } from "../../catalog/caller.ts";

/** Whether somebody was granted all that another was, of the same identity: a lesser token agrees to nothing for a greater one. */
export function mayAnswer(by: Caller, asked: Caller): boolean {
  if (by.id !== asked.id || !asked.scopes.every((scope) => by.scopes.includes(scope))) return false;
  const { resources = {} } = by;
  return Object.entries(asked.resources ?? {}).every(([name, actions]) => {
    const own = Object.hasOwn(resources, name) ? (resources[name] ?? []) : [];
    return actions.every((action) => own.includes(action));
  });
}

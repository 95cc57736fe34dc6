import type { Caller } from "../../surface/caller.ts";

/** What somebody may do to things of the application's own: actions by `type:id`. */
export type Resources = NonNullable<Caller["resources"]>;

/** How much of it there may be: entries, and characters over all. */
export const maxResources = 1024;
export const maxResourceChars: number = 16 * 1024;

function toActions(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const listed: readonly unknown[] = value;
  const actions = listed.filter((one) => typeof one === "string");
  return actions.length === listed.length ? Object.freeze(actions) : undefined;
}

function sizeOf(entries: readonly (readonly [string, readonly string[]])[]): number {
  let chars = 0;
  for (const [name, actions] of entries) {
    chars += name.length;
    for (const action of actions) chars += action.length + 1;
  }
  return chars;
}

/**
 * A copy of what somebody may do to things of the application's own: lists of texts by names, no more than 1,024 of them and
 * 16 Ki characters. `undefined`: it is something else.
 */
export function readResources(value: unknown): Resources | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const names = Object.keys(value);
  if (names.length > maxResources) return undefined;
  const entries: (readonly [string, readonly string[]])[] = [];
  for (const name of names) {
    const actions = toActions(Reflect.get(value, name));
    if (actions === undefined) return undefined;
    entries.push([name, actions]);
  }
  // Defined and not assigned: of a key such as `__proto__` nothing else is made.
  return sizeOf(entries) > maxResourceChars ? undefined : Object.freeze(Object.fromEntries(entries));
}

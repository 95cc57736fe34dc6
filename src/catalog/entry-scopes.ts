import { SurfaceError } from "../errors.ts";
import { isJsonObject } from "../schema/json.ts";
import { freezeScopes, type ScopeOptions } from "../tags/scopes.ts";
import type { EntryGuard, ToolInput } from "./entry.ts";

/** Returns whether the input of a tool, which is one plain object, has an argument. */
export function hasArgument({ json: { properties } }: Pick<ToolInput, "json">, name: string): boolean {
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}

/** The scopes that the entries of a surface require by default. */
export interface DefaultScopes {
  /** For entries that only read: `<surface>:read`. */
  readonly read: string;
  /** For entries that may change something: `<surface>:write`. */
  readonly write: string;
}

/** The scopes that the entries of a catalog require. */
export interface CatalogScopes extends DefaultScopes {
  /** The default scopes and the authors'; sorted. */
  readonly all: readonly string[];
}

/** Returns the default scopes of a surface. */
export function toDefaultScopes(surface: string): DefaultScopes {
  return Object.freeze({ read: `${surface}:read`, write: `${surface}:write` });
}

const none: readonly string[] = Object.freeze([]);

/** Returns the requirements of an entry: a default scope, and the author's options. */
export function toGuard(byDefault: string, options: ScopeOptions): EntryGuard {
  const { scopes = none, scopesAny = none, resource } = freezeScopes(options);
  const guard = { scopes: Object.freeze([...new Set([byDefault, ...scopes])]) };
  if (scopes.length === 0 && scopesAny.length === 0 && resource === undefined) return guard;
  const requires = { scopes, scopesAny, ...(resource === undefined ? {} : { resource }) };
  return { ...guard, requires: Object.freeze(requires) };
}

/** Refuses a tool that lacks the argument that its option `resource` names. @throws SurfaceError `INVALID_OPTION`. */
export function assertResourceArgument({ requires }: EntryGuard, input: ToolInput, origin: string): void {
  const argument = requires?.resource?.argument;
  if (argument === undefined || hasArgument(input, argument)) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Cannot add ${origin}: its "resource" is named by the argument "${argument}", which its input does not have`,
  );
}

/** Returns the scopes that lists of entries require together, and the default scopes. */
export function toCatalogScopes(
  { read, write }: DefaultScopes,
  lists: readonly (readonly EntryGuard[])[],
): CatalogScopes {
  const all = new Set([read, write]);
  for (const { scopes, requires } of lists.flat()) {
    for (const scope of scopes) all.add(scope);
    for (const scope of requires?.scopesAny ?? none) all.add(scope);
  }
  return Object.freeze({ read, write, all: Object.freeze([...all].toSorted()) });
}

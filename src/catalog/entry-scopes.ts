import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { SurfaceError } from "../errors.ts";
import { keepScopes, type ScopeOptions } from "../tags/scopes.ts";
import type { EntryGuard, ToolInput } from "./entry.ts";

/** The keywords whose schemas describe the same object as the schema they stand in. */
const armKeywords = ["allOf", "anyOf", "oneOf"] as const;

/** Whether an object schema, or any arm of it, names a property. */
export function hasProperty(json: JsonObject, name: string): boolean {
  const { properties } = json;
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return true;
  return armKeywords.some((keyword) => {
    const arms = json[keyword];
    return Array.isArray(arms) && arms.some((arm) => isJsonObject(arm) && hasProperty(arm, name));
  });
}

/** What the entries of a surface ask for by themselves. */
export interface DefaultScopes {
  /** What whatever does not change anything takes: `<surface>:read`. */
  readonly read: string;
  /** What whatever may change something takes: `<surface>:write`. */
  readonly write: string;
}

/** What a catalog's entries ask for, all of them. */
export interface CatalogScopes extends DefaultScopes {
  /** Those two, and what authors ask for besides; sorted. */
  readonly all: readonly string[];
}

/** The two scopes of a surface, by its name. */
export function toDefaultScopes(surface: string): DefaultScopes {
  return Object.freeze({ read: `${surface}:read`, write: `${surface}:write` });
}

const none: readonly string[] = Object.freeze([]);

/** What one entry asks for, each once: a default, then what its author says besides. */
export function toGuard(byDefault: string, options: ScopeOptions): EntryGuard {
  const { scopes = none, scopesAny = none, resource } = keepScopes(options);
  const guard = { scopes: Object.freeze([...new Set([byDefault, ...scopes])]) };
  if (scopes.length === 0 && scopesAny.length === 0 && resource === undefined) return guard;
  const requires = { scopes, scopesAny, ...(resource === undefined ? {} : { resource }) };
  return { ...guard, requires: Object.freeze(requires) };
}

/**
 * Refuses a tool whose callers are to name a thing by an argument that it does not take.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertThingNamed({ requires }: EntryGuard, { json }: ToolInput, origin: string): void {
  const argument = requires?.resource?.argument;
  if (argument === undefined || hasProperty(json, argument)) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Adding ${origin}: its "resource" is named by the argument "${argument}", and it takes none of this name`,
  );
}

/** What lists of entries ask for together, besides the defaults. */
export function toCatalogScopes(
  { read, write }: DefaultScopes,
  lists: readonly (readonly EntryGuard[])[],
): CatalogScopes {
  const all = new Set([read, write]);
  for (const entries of lists) {
    for (const { scopes, requires } of entries) {
      for (const scope of scopes) all.add(scope);
      for (const scope of requires?.scopesAny ?? none) all.add(scope);
    }
  }
  return Object.freeze({ read, write, all: Object.freeze([...all].toSorted()) });
}

import type { ScopeOptions } from "../tags/scopes.ts";

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

/** Everything that one entry asks for, each once: a default, then what its author says besides. */
export function toEntryScopes(byDefault: string, { scopes = [] }: ScopeOptions): readonly string[] {
  return Object.freeze([...new Set([byDefault, ...scopes])]);
}

/** What some entries ask for together, besides the defaults. */
export function toCatalogScopes(
  { read, write }: DefaultScopes,
  entries: readonly { readonly scopes: readonly string[] }[],
): CatalogScopes {
  const all = new Set([read, write, ...entries.flatMap(({ scopes }) => scopes)]);
  return Object.freeze({ read, write, all: Object.freeze([...all].toSorted()) });
}

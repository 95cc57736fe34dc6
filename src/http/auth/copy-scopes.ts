/** The most scopes of a caller, and their length in characters of JSON. More does not fit beside claims on a link. */
export const maxScopes = 1024;
export const maxScopeChars: number = 16 * 1024;

/** Returns a frozen copy of a list of scopes; `undefined` for anything else, or too many. */
export function copyScopes(scopes: unknown): readonly string[] | undefined {
  if (!Array.isArray(scopes) || scopes.length > maxScopes) return undefined;
  const isFit = scopes.every((scope) => typeof scope === "string") && JSON.stringify(scopes).length <= maxScopeChars;
  return isFit ? Object.freeze([...scopes]) : undefined;
}

import { SurfaceError } from "../errors.ts";

/** What an author may ask of callers, of an entry of any sort. */
export interface ScopeOptions {
  /**
   * What callers must have been granted besides `<surface>:read`, or `<surface>:write` where it may change something: at
   * most 16 scopes as OAuth has them. Asked only of callers who are known, so never over standard input and output.
   */
  readonly scopes?: readonly string[];
}

const maxScopes = 16;
const maxScopeLength = 128;

// RFC 6749, 3.3: printable ASCII without space, quote and backslash.
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

function areScopes(scopes: unknown): boolean {
  if (!Array.isArray(scopes) || scopes.length > maxScopes) return false;
  const listed: readonly unknown[] = scopes;
  // A copy, in which a hole is looked at too.
  return Array.from(listed).every(isScope);
}

function isScope(scope: unknown): boolean {
  return typeof scope === "string" && scope.length <= maxScopeLength && scopeToken.test(scope);
}

/**
 * Refuses scopes that no token could carry.
 *
 * @param attempt - what the author was doing, as messages begin: `Adding tool "run"`.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertScopes(scopes: unknown, attempt: string): void {
  if (scopes === undefined || areScopes(scopes)) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `${attempt}: "scopes" must be a list of at most ${maxScopes} scopes, each 1 to ${maxScopeLength} printable ASCII characters without spaces, quotes and backslashes`,
  );
}

/** Scopes as they are now, whatever becomes of the author's list: a frozen copy. */
export function keepScopes({ scopes }: ScopeOptions): ScopeOptions {
  return scopes === undefined ? {} : { scopes: Object.freeze([...scopes]) };
}

import { SurfaceError } from "../errors.ts";

/**
 * An action that callers must be allowed to do to a thing of the application's, as their `resources` say: `"repo:*"` or
 * `"repo:website"` with `["write"]`.
 */
export interface ResourceRequirement {
  /** The sort of thing: letters, digits, `_`, `-` and `.`, at most 64. */
  readonly type: string;
  readonly action: string;
  /**
   * The argument that names the thing, by its name on the wire. With it a call is let through for the things that its caller
   * may act on, and answered as for one that does not exist otherwise. Left out: any thing of the type will do. Only tools
   * have arguments.
   */
  readonly argument?: string;
}

/** What an author may ask of callers, of an entry of any sort. What they lack is not listed, and answers as what does not exist. */
export interface ScopeOptions {
  /**
   * What callers must have been granted besides `<surface>:read`, or `<surface>:write` where it may change something: at
   * most 16 scopes as OAuth has them, all of them. Who is anonymous has none, unless whoever serves them says otherwise.
   */
  readonly scopes?: readonly string[];
  /** The same, where any one of them is enough. */
  readonly scopesAny?: readonly string[];
  /** What they must be allowed to do to a thing of the application's own. */
  readonly resource?: ResourceRequirement;
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

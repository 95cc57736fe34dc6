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
   * The argument that names the thing, by its name on the wire, and still so named once it was validated. With it a call is let
   * through for the things that its caller may act on, as they came and as the schema makes them, and answered as for one that
   * does not exist otherwise. Of a member the face runs the schema of its own definition first: it is taken to be the same that
   * the owner has, and to make the same of the same. Left out: any thing of the type will do. Only tools have arguments.
   */
  readonly argument?: string;
}

/**
 * Requirements of an entry of any kind. An entry that a caller may not use is not listed. Calling or reading it fails as if it did
 * not exist, with one exception: a signed-in caller who lacks only scopes gets "Insufficient scope" and their names.
 */
export interface ScopeOptions {
  /**
   * What callers must have been granted besides `<surface>:read`, or `<surface>:write` where it may change something: at
   * most 16 scopes as OAuth has them, all of them. Who is anonymous has none, unless whoever serves them says otherwise.
   */
  readonly scopes?: readonly string[];
  /** The same, where any one of them is enough; at least one. */
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

function refuse(attempt: string, what: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `${attempt}: ${what}`);
}

/**
 * Refuses scopes that no token could carry.
 *
 * @param attempt - what the author was doing, as messages begin: `Adding tool "run"`.
 * @param name - how the author says them.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertScopes(scopes: unknown, attempt: string, name = "scopes"): void {
  if (scopes === undefined || areScopes(scopes)) return;
  throw refuse(
    attempt,
    `"${name}" must be a list of at most ${maxScopes} scopes, each 1 to ${maxScopeLength} printable ASCII characters without spaces, quotes and backslashes`,
  );
}

const typePattern = /^[\w.-]{1,64}$/;
const resourceKeys: ReadonlySet<string> = new Set(["type", "action", "argument"]);

function isName(argument: unknown): boolean {
  return typeof argument === "string" && argument !== "";
}

function assertRequirement(resource: unknown, attempt: string): void {
  if (typeof resource !== "object" || resource === null) throw refuse(attempt, '"resource" must be { type, action }');
  for (const key of Object.keys(resource)) {
    if (!resourceKeys.has(key)) throw refuse(attempt, `"${key}" is not a field of "resource"`);
  }
  // Its fields are looked at next, whatever they are.
  const { type, action, argument } = resource as { readonly [Key in keyof ResourceRequirement]?: unknown };
  if (typeof type !== "string" || !typePattern.test(type)) {
    throw refuse(attempt, 'the "type" of "resource" must be 1 to 64 letters, digits, "_", "-" and "."');
  }
  if (!isScope(action)) throw refuse(attempt, 'the "action" of "resource" must be a text as scopes are');
  if (argument === undefined || isName(argument)) return;
  throw refuse(attempt, 'the "argument" of "resource" must be the name of an argument');
}

/**
 * Refuses what no caller could be asked for, of what an author asks of them.
 *
 * @param attempt - what the author was doing, as messages begin: `Adding tool "run"`.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertAccess({ scopes, scopesAny, resource }: ScopeOptions, attempt: string): void {
  assertScopes(scopes, attempt);
  assertScopes(scopesAny, attempt, "scopesAny");
  // Of none of them nobody could have one, and a list that came to be empty must not let everybody in.
  if (scopesAny?.length === 0) throw refuse(attempt, '"scopesAny" must be at least one scope');
  if (resource !== undefined) assertRequirement(resource, attempt);
}

/**
 * The same, for what takes no arguments that could name a thing.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertAccessWithoutArgument(options: ScopeOptions, attempt: string): void {
  assertAccess(options, attempt);
  if (options.resource?.argument === undefined) return;
  throw refuse(attempt, 'only a tool has arguments that the "argument" of "resource" could name');
}

/** What an author asks of callers as it is now, whatever becomes of the author's own: frozen copies. */
export function keepScopes({ scopes, scopesAny, resource }: ScopeOptions): ScopeOptions {
  return {
    ...(scopes === undefined ? {} : { scopes: Object.freeze([...scopes]) }),
    ...(scopesAny === undefined ? {} : { scopesAny: Object.freeze([...scopesAny]) }),
    ...(resource === undefined ? {} : { resource: Object.freeze({ ...resource }) }),
  };
}

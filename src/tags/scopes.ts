import { isObject } from "../options/is-object.ts";
import { filledText, matching, object, option, required, type Option, type OptionFields } from "../options/option.ts";

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

function areScopes(scopes: unknown, least = 0): boolean {
  if (!Array.isArray(scopes) || scopes.length > maxScopes || scopes.length < least) return false;
  // A copy, in which a hole is checked too.
  return Array.from<unknown>(scopes).every(isScope);
}

function isScope(scope: unknown): boolean {
  return typeof scope === "string" && scope.length <= maxScopeLength && scopeToken.test(scope);
}

const scopeForm = `each 1 to ${maxScopeLength} printable ASCII characters without spaces, quotes and backslashes`;

/** Lists of scopes that a token could carry. */
export const scopeList: Option = option(`a list of at most ${maxScopes} scopes, ${scopeForm}`, (scopes) =>
  areScopes(scopes),
);

const requirement = object<ResourceRequirement>({
  type: required(matching('1 to 64 letters, digits, "_", "-" and "."', /^[\w.-]{1,64}$/)),
  action: required(option("a text as scopes are", isScope)),
  argument: filledText,
});

/** Options of what callers must have been granted. */
export const accessFields: OptionFields<ScopeOptions> = {
  scopes: scopeList,
  // An empty list must not admit everyone.
  scopesAny: option(`a list of 1 to ${maxScopes} scopes, ${scopeForm}`, (scopes) => areScopes(scopes, 1)),
  resource: requirement,
};

/** The same, for entries without arguments. */
export const accessFieldsWithoutArgument: OptionFields<ScopeOptions> = {
  ...accessFields,
  resource: {
    problem(value, path) {
      const problem = requirement.problem(value, path);
      if (problem !== undefined || !isObject(value) || Reflect.get(value, "argument") === undefined) return problem;
      return `"${path}" must have no "argument": only a tool has arguments`;
    },
  },
};

/** What an author asks of callers as it is now, whatever becomes of the author's own: frozen copies. */
export function keepScopes({ scopes, scopesAny, resource }: ScopeOptions): ScopeOptions {
  return {
    ...(scopes === undefined ? {} : { scopes: Object.freeze([...scopes]) }),
    ...(scopesAny === undefined ? {} : { scopesAny: Object.freeze([...scopesAny]) }),
    ...(resource === undefined ? {} : { resource: Object.freeze({ ...resource }) }),
  };
}

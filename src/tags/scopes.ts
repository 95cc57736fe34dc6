import { isObject } from "../options/is-object.ts";
import { filledText, matching, object, option, required, type Option, type OptionFields } from "../options/option.ts";

/**
 * A permission on an object of the application, such as a repository. Callers have it by their `resources`: `"repo:*"` or
 * `"repo:website"` with `["write"]`.
 */
export interface ResourceRequirement {
  /** The type of the object: letters, digits, `_`, `-` and `.`, at most 64. */
  readonly type: string;
  readonly action: string;
  /**
   * The wire name of the argument with the id of the object. The schema must keep the name. Only tools have arguments.
   *
   * A call is allowed if the caller may act on the object, by the id before and after validation. Otherwise the tool answers as
   * if it did not exist. The server validates the argument by its own schema, which must give the same result as the owner's
   * schema.
   * @default any object of the type is enough
   */
  readonly argument?: string;
}

/**
 * Requirements of an entry of any kind. An entry that a caller may not use is not listed. Calling or reading it fails as if it
 * did not exist, with one exception: a signed-in caller who lacks only scopes gets "Insufficient scope" and their names.
 */
export interface ScopeOptions {
  /**
   * The scopes that a caller needs in addition to `<surface>:read`, or `<surface>:write` if the entry may change something: all
   * of them, at most 16 OAuth scopes. Anonymous callers have none, unless the server's options grant some.
   */
  readonly scopes?: readonly string[];
  /** Scopes of which a caller needs any one; at least one, at most 16. */
  readonly scopesAny?: readonly string[];
  /** The permission that a caller needs on an object of the application. */
  readonly resource?: ResourceRequirement;
}

const maxScopes = 16;
const maxScopeLength = 128;

// RFC 6749, 3.3: printable ASCII without space, quote and backslash.
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

function areScopes(scopes: unknown, least = 0): boolean {
  if (!Array.isArray(scopes) || scopes.length > maxScopes || scopes.length < least) return false;
  // A copy, so that a hole is checked too.
  return Array.from<unknown>(scopes).every(isScope);
}

function isScope(scope: unknown): boolean {
  return typeof scope === "string" && scope.length <= maxScopeLength && scopeToken.test(scope);
}

const scopeForm = `each 1 to ${maxScopeLength} printable ASCII characters without spaces, quotes and backslashes`;

/** The schema of a list of scopes. */
export const scopeList: Option = option(`a list of at most ${maxScopes} scopes, ${scopeForm}`, (scopes) =>
  areScopes(scopes),
);

const requirement = object<ResourceRequirement>({
  type: required(matching('1 to 64 letters, digits, "_", "-" and "."', /^[\w.-]{1,64}$/)),
  action: required(option("a text as scopes are", isScope)),
  argument: filledText,
});

/** Schemas of {@link ScopeOptions}. */
export const scopeFields: OptionFields<ScopeOptions> = {
  scopes: scopeList,
  // An empty list must not admit everyone.
  scopesAny: option(`a list of 1 to ${maxScopes} scopes, ${scopeForm}`, (scopes) => areScopes(scopes, 1)),
  resource: requirement,
};

/** The same, for entries without arguments. */
export const scopeFieldsWithoutArgument: OptionFields<ScopeOptions> = {
  ...scopeFields,
  resource: {
    problem(value, path) {
      const problem = requirement.problem(value, path);
      if (problem !== undefined || !isObject(value) || Reflect.get(value, "argument") === undefined) return problem;
      return `"${path}" must have no "argument": only a tool has arguments`;
    },
  },
};

/** Returns frozen copies of the requirements, which the author cannot change later. */
export function freezeScopes({ scopes, scopesAny, resource }: ScopeOptions): ScopeOptions {
  return {
    ...(scopes === undefined ? {} : { scopes: Object.freeze([...scopes]) }),
    ...(scopesAny === undefined ? {} : { scopesAny: Object.freeze([...scopesAny]) }),
    ...(resource === undefined ? {} : { resource: Object.freeze({ ...resource }) }),
  };
}

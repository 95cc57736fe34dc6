import { isObject } from "../../options/is-object.ts";
import {
  filledText,
  flag,
  listOf,
  numberFrom,
  oneOf,
  option,
  required,
  text,
  withDefault,
  type OptionFields,
} from "../../options/option.ts";
import { invalidOption, readOptions } from "../../options/read-options.ts";
import type { JSONWebKeySet } from "jose";
import { type HttpAuth, authFields, authUrl, toHttpAuth, type AuthOptions } from "./http-auth.ts";
import { createJwtVerifier } from "./jwt-verifier.ts";

/** What {@link oauthResource} takes. */
export interface OauthResourceOptions extends AuthOptions {
  /** Who signs the tokens: what they say in `iss`, character by character. An https URL. */
  readonly issuer: string;
  /** Where the issuer's public keys are, or the keys themselves. Fetched when they are needed, and kept for ten minutes. */
  readonly jwks: string | URL | JSONWebKeySet;
  /** What tokens may be signed with. Default: all of RSA, ECDSA and EdDSA that `jose` knows. Never with a shared secret. */
  readonly algorithms?: readonly string[];
  /** The claims that handlers find in `ctx.caller.claims`. Default: none. */
  readonly claims?: readonly string[];
  /**
   * The claim that says what callers may do to things of the application's own, as `{ "repo:website": ["write"] }`. A claim that
   * says something else grants nothing. Default: none.
   */
  readonly resources?: string;
  /**
   * Takes only tokens whose `typ` is `at+jwt`, as RFC 9068 asks for. Default `false`: many issuers write `JWT`, or nothing;
   * what tells their other tokens from access tokens is the audience.
   */
  readonly strictType?: boolean;
  /** How far the issuer's clock may be from this one, in seconds. Default 0, at most 300. */
  readonly toleranceSeconds?: number;
}

const doing = "Making oauthResource()";
/** Those with a public key. With a shared secret, whoever may verify may sign; a public key may be taken for one. */
const asymmetric: readonly string[] = Object.freeze([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
]);

function isPublicKey(key: unknown): boolean {
  return isObject(key) && Reflect.get(key, "kty") !== "oct" && !("d" in key);
}

function isKeys(jwks: unknown): boolean {
  if (typeof jwks === "string" || jwks instanceof URL) return authUrl.problem(jwks, "jwks") === undefined;
  const keys: unknown = isObject(jwks) ? Reflect.get(jwks, "keys") : undefined;
  return Array.isArray(keys) && keys.length > 0 && keys.every(isPublicKey);
}

const fields = {
  ...authFields,
  issuer: required(
    // A `URL` has a slash at its end that the issuer may not have.
    option(
      "the text of an absolute URL, as tokens have it, by https unless it is of this machine",
      (value) => typeof value === "string" && authUrl.problem(value, "issuer") === undefined,
    ),
  ),
  jwks: required(option('an https URL, or an object with a list of public "keys"', isKeys)),
  algorithms: withDefault(listOf(oneOf(...asymmetric), "a list of at least one algorithm", { least: 1 }), asymmetric),
  claims: withDefault(listOf(text, "a list of names"), []),
  resources: filledText,
  strictType: withDefault(flag, false),
  toleranceSeconds: withDefault(numberFrom(0, 300), 0),
} satisfies OptionFields<OauthResourceOptions>;

/** Returns a copy that the author cannot change any more. */
function toKeys(jwks: OauthResourceOptions["jwks"]): URL | JSONWebKeySet {
  return typeof jwks === "string" || jwks instanceof URL ? new URL(jwks) : structuredClone(jwks);
}

/**
 * Lets in who has a token that an OAuth issuer signed for this server: signature, issuer, audience, `exp` and `nbf` are
 * checked, all exactly. Callers are called by `sub`; a token that has none speaks for its client, `client:…`. Clients learn
 * where the issuer is from this server. Holds nothing that is to be disposed.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { oauthResource } from "surface-mcp/http";
 *
 * const auth = oauthResource({
 *   issuer: "https://login.example",
 *   jwks: "https://login.example/.well-known/jwks.json",
 *   resource: "https://ci.example/mcp",
 * });
 * ```
 */
export function oauthResource(options: OauthResourceOptions): HttpAuth {
  const read = readOptions(options, fields, doing);
  const { issuer, jwks, algorithms, claims, resources, strictType, toleranceSeconds, ...more } = read;
  const common = toHttpAuth({ authorizationServers: [issuer], ...more });
  const missing = common.identityClaims?.find((name) => !claims.includes(name));
  if (missing !== undefined) throw invalidOption(doing, `"identityClaims" names "${missing}", which "claims" does not`);
  const verify = createJwtVerifier({
    issuer,
    resource: common.resource,
    jwks: toKeys(jwks),
    algorithms: [...algorithms],
    claims: [...claims],
    resources,
    strictType,
    toleranceSeconds,
    timeoutMs: common.timeoutMs,
  });
  return Object.freeze({ ...common, verify });
}

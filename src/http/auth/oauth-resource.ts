import { assertKnownOptions } from "../../tags/assert-known-options.ts";
import type { JSONWebKeySet } from "jose";
import type { HttpAuth } from "./http-auth.ts";
import { JwtVerifier } from "./jwt-verifier.ts";
import {
  authOptionNames,
  readAuthOptions,
  readAuthUrl,
  refuseAuthOption,
  type AuthOptions,
} from "./read-auth-options.ts";

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
const optionNames = [
  ...["issuer", "jwks", "algorithms", "claims", "resources", "strictType", "toleranceSeconds"],
  ...authOptionNames,
];
const maxTolerance = 300;

/** Those with a public key. With a shared secret, whoever may verify may sign; a public key may be taken for one. */
const asymmetric: readonly string[] = Object.freeze([
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
]);

function readIssuer(issuer: unknown): string {
  readAuthUrl(issuer, "issuer", doing);
  if (typeof issuer === "string") return issuer;
  // The address of a URL has a slash at its end that the issuer may not have.
  throw refuseAuthOption(doing, '"issuer" must be a text, as tokens have it');
}

function isPublicKey(key: unknown): boolean {
  if (typeof key !== "object" || key === null) return false;
  return Reflect.get(key, "kty") !== "oct" && !("d" in key);
}

function readKeys(jwks: OauthResourceOptions["jwks"]): URL | JSONWebKeySet {
  if (typeof jwks === "string" || jwks instanceof URL) return readAuthUrl(jwks, "jwks", doing);
  const keys: unknown = typeof jwks === "object" && jwks !== null ? jwks.keys : undefined;
  if (Array.isArray(keys) && keys.length > 0 && keys.every(isPublicKey)) return structuredClone(jwks);
  throw refuseAuthOption(doing, '"jwks" must be a URL, or an object with a list of public "keys"');
}

function readAlgorithms(algorithms: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(algorithms) ? algorithms : [];
  const known = asymmetric.filter((one) => list.includes(one));
  if (list.length > 0 && list.every((one) => known.some((each) => each === one))) return known;
  throw refuseAuthOption(doing, `"algorithms" must be some of ${asymmetric.join(", ")}`);
}

function readNames(claims: unknown): readonly string[] {
  if (Array.isArray(claims) && claims.every((name) => typeof name === "string")) return [...claims];
  throw refuseAuthOption(doing, '"claims" must be a list of names');
}

function readClaim(resources: unknown): string | undefined {
  if (resources === undefined || (typeof resources === "string" && resources !== "")) return resources;
  throw refuseAuthOption(doing, '"resources" must be the name of a claim');
}

function readTolerance(seconds: unknown): number {
  if (typeof seconds === "number" && seconds >= 0 && seconds <= maxTolerance) return seconds;
  throw refuseAuthOption(doing, `"toleranceSeconds" must be a number from 0 to ${maxTolerance}`);
}

function readFlag(strictType: unknown): boolean {
  if (typeof strictType === "boolean") return strictType;
  throw refuseAuthOption(doing, '"strictType" must be true or false');
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
  assertKnownOptions(options, optionNames, doing);
  const { issuer, algorithms = asymmetric, claims = [], strictType = false, toleranceSeconds = 0 } = options;
  const common = readAuthOptions({ authorizationServers: [issuer], ...options }, doing);
  const names = readNames(claims);
  const missing = common.identityClaims?.find((name) => !names.includes(name));
  if (missing !== undefined)
    throw refuseAuthOption(doing, `"identityClaims" names "${missing}", which "claims" does not`);
  const verifier = new JwtVerifier({
    issuer: readIssuer(issuer),
    resource: common.resource,
    jwks: readKeys(options.jwks),
    algorithms: readAlgorithms(algorithms),
    claims: names,
    resources: readClaim(options.resources),
    strictType: readFlag(strictType),
    toleranceSeconds: readTolerance(toleranceSeconds),
    timeoutMs: common.timeoutMs,
  });
  return Object.freeze({ ...common, verify: verifier.verify });
}

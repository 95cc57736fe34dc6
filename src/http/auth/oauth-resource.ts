import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { SurfaceError } from "../../errors.ts";
import { ownParam } from "../../mcp/protocol.ts";
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
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { copyResources } from "./caller-fields.ts";
import { type HttpAuth, authFields, authUrl, toHttpAuth, type AuthOptions, type VerifiedToken } from "./http-auth.ts";

/** Options of {@link oauthResource}. */
export interface OauthResourceOptions extends AuthOptions {
  /** The issuer of the tokens: the claim `iss`, character by character. An https URL. */
  readonly issuer: string;
  /** URL of the issuer's public keys, or the keys themselves. Fetched when they are needed, and kept for ten minutes. */
  readonly jwks: string | URL | JSONWebKeySet;
  /** Accepted signature algorithms. Default: all of RSA, ECDSA and EdDSA that `jose` knows. Never with a shared secret. */
  readonly algorithms?: readonly string[];
  /** The claims that handlers find in `ctx.caller.claims`. Default: none. */
  readonly claims?: readonly string[];
  /**
   * The claim with the granted actions on resources of the application, such as `{ "repo:website": ["write"] }`. A claim of another
   * form grants nothing. Default: none.
   */
  readonly resources?: string;
  /**
   * Accepts only tokens whose `typ` is `at+jwt`, as RFC 9068 demands. Default `false`: many issuers write `JWT`, or nothing, and
   * their access tokens differ from other tokens by the audience.
   */
  readonly strictType?: boolean;
  /** Seconds by which the issuer's clock may differ from this one. Default 0, at most 300. */
  readonly toleranceSeconds?: number;
}

const doing = "Cannot create oauthResource()";
/** Algorithms with a public key. With a shared secret, every verifier could sign, and a public key could be taken for the secret. */
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

/**
 * Creates authentication by the tokens that an OAuth issuer signs for this server. Checks signature, issuer, audience, `exp` and
 * `nbf`, all exactly. The id of a caller is `sub`, or `client:…` for a token without one. Clients find the issuer through this
 * server. Needs no disposing.
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
  if (missing !== undefined)
    throw invalidOption(doing, `"identityClaims" names "${missing}", which "claims" does not name; add it there`);
  const verify = createJwtVerifier({
    issuer,
    resource: common.resource,
    // Copies, which the author cannot change.
    jwks: typeof jwks === "string" || jwks instanceof URL ? new URL(jwks) : structuredClone(jwks),
    algorithms: [...algorithms],
    claims: [...claims],
    resources,
    strictType,
    toleranceSeconds,
    timeoutMs: common.timeoutMs,
  });
  return Object.freeze({ ...common, verify });
}

const maxKeyBytes = 256 * 1024;

/** Milliseconds after a failed fetch in which further fetches fail without a request. */
const restMs = 1000;

function refuseKeys(problem: string): SurfaceError {
  return new SurfaceError("UNAVAILABLE", `Cannot fetch the keys of the issuer: ${problem}`);
}

async function readBounded(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let read = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxKeyBytes) throw refuseKeys(`the response is larger than ${maxKeyBytes} bytes`);
    read += decoder.decode(chunk, { stream: true });
  }
  return read + decoder.decode();
}

/**
 * Creates the function that fetches keys. It follows no redirects, reads at most 256 KiB, and rests for a second after a failure:
 * anyone can send a token, and so cause a fetch.
 *
 * @throws SurfaceError `UNAVAILABLE`, and the errors of `fetch`.
 */
function createKeyFetch(): (url: string, init: RequestInit) => Promise<Response> {
  let restsUntil = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  return async (url, init) => {
    if (systemClock.now() < restsUntil) throw failure;
    try {
      const response = await fetch(url, { ...init, redirect: "manual" });
      if (response.status === 200) return new Response(await readBounded(response.body), { status: 200 });
      await response.body?.cancel();
      throw refuseKeys(`the response has status ${response.status}`);
    } catch (cause) {
      restsUntil = systemClock.now() + restMs;
      failure = cause;
      throw cause;
    }
  };
}

type Jose = typeof import("jose");

/** Claims that a token must have, and claims that callers keep. */
interface JwtOptions {
  readonly issuer: string;
  readonly resource: string;
  /** The issuer's keys, or their URL. */
  readonly jwks: URL | JSONWebKeySet;
  readonly algorithms: readonly string[];
  /** Whether `typ` must name an access token (RFC 9068). */
  readonly strictType: boolean;
  /** Milliseconds that fetching the keys may take. */
  readonly timeoutMs: number;
  /** Claims that handlers get. */
  readonly claims: readonly string[];
  /** The claim with the granted actions on resources. @default no resources */
  readonly resources?: string | undefined;
  /** Seconds by which clocks may differ. */
  readonly toleranceSeconds: number;
}

/** Codes of `jose` for a token that is not valid. With other codes, such as for keys that cannot be fetched, that is not known. */
const badToken: ReadonlySet<unknown> = new Set([
  "ERR_JOSE_ALG_NOT_ALLOWED",
  "ERR_JOSE_NOT_SUPPORTED",
  "ERR_JWS_INVALID",
  "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
  "ERR_JWT_INVALID",
  "ERR_JWT_EXPIRED",
  "ERR_JWT_CLAIM_VALIDATION_FAILED",
  "ERR_JWKS_NO_MATCHING_KEY",
  "ERR_JWKS_MULTIPLE_MATCHING_KEYS",
]);

const accessType = "at+jwt";

/**
 * Returns whether the `typ` of a token's header fits an access token. A token with another name, such as `logout+jwt`, is for
 * something else. Issuers may write any JSON there.
 */
function isAccessToken(type: unknown, strictType: boolean): boolean {
  if (type === undefined) return !strictType;
  if (typeof type !== "string") return false;
  const name = type.toLowerCase().replace(/^application\//, "");
  return name === accessType || (!strictType && name === "jwt");
}

function createKeySet(jose: Jose, { jwks, timeoutMs }: JwtOptions): JWTVerifyGetKey {
  if (!(jwks instanceof URL)) return jose.createLocalJWKSet(jwks);
  return jose.createRemoteJWKSet(jwks, { timeoutDuration: timeoutMs, [jose.customFetch]: createKeyFetch() });
}

/**
 * Creates the verifier of tokens that are signed by one issuer. It returns `undefined` for a token that is not valid, and rejects if
 * that cannot be known. Loads `jose` with the first token.
 */
function createJwtVerifier(jwt: JwtOptions): HttpAuth["verify"] {
  const { issuer, resource: audience, toleranceSeconds: clockTolerance, strictType } = jwt;
  const options = { issuer, audience, clockTolerance, algorithms: [...jwt.algorithms], requiredClaims: ["exp"] };
  let loading: Promise<{ jose: Jose; keys: JWTVerifyGetKey }> | undefined;
  return async (token) => {
    loading ??= import("jose").then((jose) => ({ jose, keys: createKeySet(jose, jwt) }));
    const { jose, keys } = await loading;
    try {
      const { payload, protectedHeader } = await jose.jwtVerify(token, keys, options);
      return isAccessToken(protectedHeader.typ, strictType) ? readClaims(payload, jwt) : undefined;
    } catch (cause) {
      if (cause instanceof jose.errors.JOSEError && badToken.has(cause.code)) return undefined;
      throw cause;
    }
  };
}

const clientPrefix = "client:";
const escapePrefix = "sub:";

function textOf(claims: JsonObject, name: string): string | undefined {
  const value = ownParam(claims, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Returns the caller of a token: its subject, or its client if it has none. A subject that looks like a client is escaped, so that
 * it cannot get the id of that client.
 */
function toId(claims: JsonObject, clientId: string | undefined): string | undefined {
  const subject = textOf(claims, "sub");
  if (subject === undefined) return clientId === undefined ? undefined : clientPrefix + clientId;
  const isAmbiguous = subject.startsWith(clientPrefix) || subject.startsWith(escapePrefix);
  return isAmbiguous ? escapePrefix + subject : subject;
}

/** Reads `scope`, a text (RFC 9068), or `scp`, which some issuers write instead: a text or a list. */
function toScopes(claims: JsonObject): readonly string[] {
  const list = ownParam(claims, "scp");
  const scope = textOf(claims, "scope");
  if (scope === undefined && Array.isArray(list)) return list.filter((one) => typeof one === "string");
  return (scope ?? textOf(claims, "scp") ?? "").split(" ").filter((one) => one !== "");
}

function pick(claims: JsonObject, names: readonly string[]): JsonObject {
  const known = names.flatMap((name) => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known);
}

/** Reads granted actions. A claim of another form grants nothing. */
function toResources(claims: JsonObject, name: string | undefined): VerifiedToken["resources"] {
  return name === undefined ? undefined : copyResources(ownParam(claims, name));
}

function secondsOf(claims: JsonObject, name: string): number | undefined {
  const value = ownParam(claims, name);
  return typeof value === "number" ? value : undefined;
}

function toAudience(claims: JsonObject): string | readonly string[] {
  const audience = ownParam(claims, "aud");
  if (typeof audience === "string") return audience;
  return Array.isArray(audience) ? audience.filter((one) => typeof one === "string") : [];
}

/** Reads the claims of a token whose signature is valid. Returns `undefined` for a token without a caller or expiry. */
function readClaims(payload: unknown, jwt: JwtOptions): VerifiedToken | undefined {
  if (!isJsonObject(payload)) return undefined;
  const clientId = textOf(payload, "client_id") ?? textOf(payload, "azp");
  const id = toId(payload, clientId);
  const expiresAt = secondsOf(payload, "exp");
  if (id === undefined || expiresAt === undefined) return undefined;
  const notBefore = secondsOf(payload, "nbf");
  const issuer = textOf(payload, "iss");
  const resources = toResources(payload, jwt.resources);
  return {
    id,
    ...(issuer === undefined ? {} : { issuer }),
    scopes: toScopes(payload),
    resource: toAudience(payload),
    expiresAt: expiresAt + jwt.toleranceSeconds,
    ...(notBefore === undefined ? {} : { notBefore: notBefore - jwt.toleranceSeconds }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(resources === undefined ? {} : { resources }),
    ...(jwt.claims.length === 0 ? {} : { claims: pick(payload, jwt.claims) }),
  };
}

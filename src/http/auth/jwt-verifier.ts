import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { systemClock } from "../../surface/system-clock.ts";
import { createKeyFetch } from "./fetch-keys.ts";
import type { HttpAuth, VerifiedToken } from "./http-auth.ts";
import { readClaims, type ClaimsSetting } from "./read-claims.ts";

type Jose = typeof import("jose");

/** What a token is held against. */
export interface JwtSetting extends ClaimsSetting {
  readonly issuer: string;
  readonly resource: string;
  /** The issuer's keys, or where they are. */
  readonly jwks: URL | JSONWebKeySet;
  readonly algorithms: readonly string[];
  /** Whether only what says that it is an access token is one (RFC 9068). */
  readonly strictType: boolean;
  /** How long fetching the keys may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** What `jose` says where the fault is the token's. All else, as keys that cannot be fetched, is ours. */
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

function toKeys(jose: Jose, { jwks, timeoutMs }: JwtSetting): JWTVerifyGetKey {
  if (!(jwks instanceof URL)) return jose.createLocalJWKSet(jwks);
  const fetchKeys = createKeyFetch(systemClock);
  return jose.createRemoteJWKSet(jwks, { timeoutDuration: timeoutMs, [jose.customFetch]: fetchKeys });
}

/** Verifies tokens that are signed by one issuer. `jose` is loaded with the first of them. */
export class JwtVerifier {
  readonly #setting: JwtSetting;
  #loading: Promise<{ jose: Jose; keys: JWTVerifyGetKey }> | undefined;

  constructor(setting: JwtSetting) {
    this.#setting = setting;
  }

  /** Says what is in a token; `undefined`: it is no good. Rejects where that cannot be known. */
  readonly verify: HttpAuth["verify"] = async (token) => {
    const { jose, keys } = await this.#load();
    try {
      return await this.#read(jose, keys, token);
    } catch (cause) {
      if (cause instanceof jose.errors.JOSEError && badToken.has(cause.code)) return undefined;
      throw cause;
    }
  };

  async #read(jose: Jose, keys: JWTVerifyGetKey, token: string): Promise<VerifiedToken | undefined> {
    const { issuer, resource: audience, algorithms, toleranceSeconds: clockTolerance, strictType } = this.#setting;
    const { payload, protectedHeader } = await jose.jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: [...algorithms],
      clockTolerance,
      requiredClaims: ["exp"],
    });
    return isAccessToken(protectedHeader.typ, strictType) ? readClaims(payload, this.#setting) : undefined;
  }

  #load(): Promise<{ jose: Jose; keys: JWTVerifyGetKey }> {
    this.#loading ??= import("jose").then((jose) => ({ jose, keys: toKeys(jose, this.#setting) }));
    return this.#loading;
  }
}

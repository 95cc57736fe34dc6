import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { systemClock } from "../../surface/system-clock.ts";
import type { HttpAuth, VerifiedToken } from "./http-auth.ts";
import { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { ownParam } from "../../mcp/protocol.ts";
import { copyResources } from "./caller-fields.ts";

const maxBytes = 256 * 1024;

/** Time for which requests fail as the last one did, without being sent, in milliseconds. */
const restMs = 1000;

/** Asks for a set of keys, as `jose` wants it done. */
export type KeyFetch = (url: string, init: RequestInit) => Promise<Response>;

function refuse(what: string): SurfaceError {
  return new SurfaceError("UNAVAILABLE", `Fetching the keys of the issuer: ${what}`);
}

async function readBounded(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw refuse(`the answer is larger than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Makes what fetches keys: it goes where it was configured to and nowhere else, reads no more than 256 KiB, and rests for a
 * second after a failure. Anybody can send a token, and so decide when keys are asked for.
 *
 * @throws SurfaceError `UNAVAILABLE`; whatever `fetch` rejects with.
 */
export function createKeyFetch(clock: Clock): KeyFetch {
  let restsUntil = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  const run: KeyFetch = async (url, init) => {
    const response = await fetch(url, { ...init, redirect: "manual" });
    if (response.status === 200) return new Response(await readBounded(response.body), { status: 200 });
    await response.body?.cancel();
    throw refuse(`it was answered with status ${response.status}`);
  };
  return async (url, init) => {
    if (clock.now() < restsUntil) throw failure;
    try {
      return await run(url, init);
    } catch (cause) {
      restsUntil = clock.now() + restMs;
      failure = cause;
      throw cause;
    }
  };
}

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

/**
 * Creates the verifier of tokens that are signed by one issuer. It returns `undefined` for a token that is not valid, and rejects if
 * that cannot be known. Loads `jose` with the first token.
 */
export function createJwtVerifier(setting: JwtSetting): HttpAuth["verify"] {
  const { issuer, resource: audience, toleranceSeconds: clockTolerance, strictType } = setting;
  const options = { issuer, audience, clockTolerance, algorithms: [...setting.algorithms], requiredClaims: ["exp"] };
  let loading: Promise<{ jose: Jose; keys: JWTVerifyGetKey }> | undefined;
  return async (token) => {
    loading ??= import("jose").then((loaded) => ({ jose: loaded, keys: toKeys(loaded, setting) }));
    const { jose, keys } = await loading;
    try {
      const { payload, protectedHeader } = await jose.jwtVerify(token, keys, options);
      return isAccessToken(protectedHeader.typ, strictType) ? readClaims(payload, setting) : undefined;
    } catch (cause) {
      if (cause instanceof jose.errors.JOSEError && badToken.has(cause.code)) return undefined;
      throw cause;
    }
  };
}

/** What of a token is handed on. */
export interface ClaimsSetting {
  /** The claims that handlers may know. */
  readonly claims: readonly string[];
  /** The claim that says what callers may do to things of the application's own. Left out: none does. */
  readonly resources?: string | undefined;
  /** What clocks may be apart, in seconds. */
  readonly toleranceSeconds: number;
}

const clientPrefix = "client:";
const escapePrefix = "sub:";

function textOf(claims: JsonObject, name: string): string | undefined {
  const value = ownParam(claims, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Who a token speaks for: its subject, or the client where there is none. A subject that looks like a client is escaped, so
 * that nobody is called what somebody else is.
 */
function toId(claims: JsonObject, clientId: string | undefined): string | undefined {
  const subject = textOf(claims, "sub");
  if (subject === undefined) return clientId === undefined ? undefined : clientPrefix + clientId;
  const isOdd = subject.startsWith(clientPrefix) || subject.startsWith(escapePrefix);
  return isOdd ? escapePrefix + subject : subject;
}

/** `scope` is a text (RFC 9068); `scp`, a text or a list, is what some issuers say instead. */
function toScopes(claims: JsonObject): readonly string[] {
  const list = ownParam(claims, "scp");
  if (textOf(claims, "scope") === undefined && Array.isArray(list))
    return list.filter((one) => typeof one === "string");
  const text = textOf(claims, "scope") ?? textOf(claims, "scp") ?? "";
  return text.split(" ").filter((scope) => scope !== "");
}

function toKnown(claims: JsonObject, names: readonly string[]): JsonObject {
  const known = names.flatMap((name) => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known);
}

/** What is no such list grants nothing, as a scope that is no text does. */
function toGranted(claims: JsonObject, name: string | undefined): Pick<VerifiedToken, "resources"> {
  const value = name === undefined ? undefined : ownParam(claims, name);
  const resources = copyResources(value);
  return resources === undefined ? {} : { resources };
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

/** Reads the claims of a token whose signature is known to be right. `undefined`: they name nobody, or never expire. */
export function readClaims(payload: unknown, setting: ClaimsSetting): VerifiedToken | undefined {
  if (!isJsonObject(payload)) return undefined;
  const clientId = textOf(payload, "client_id") ?? textOf(payload, "azp");
  const id = toId(payload, clientId);
  const expiresAt = secondsOf(payload, "exp");
  if (id === undefined || expiresAt === undefined) return undefined;
  const notBefore = secondsOf(payload, "nbf");
  const issuer = textOf(payload, "iss");
  return {
    id,
    ...(issuer === undefined ? {} : { issuer }),
    scopes: toScopes(payload),
    resource: toAudience(payload),
    expiresAt: expiresAt + setting.toleranceSeconds,
    ...(notBefore === undefined ? {} : { notBefore: notBefore - setting.toleranceSeconds }),
    ...(clientId === undefined ? {} : { clientId }),
    ...toGranted(payload, setting.resources),
    ...(setting.claims.length === 0 ? {} : { claims: toKnown(payload, setting.claims) }),
  };
}

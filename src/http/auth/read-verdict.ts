import { SurfaceError } from "../../errors.ts";
import { identifiedBy } from "../../surface/caller-key.ts";
import type { Caller } from "../../surface/caller.ts";
import { handleThrown } from "../../spine/handle-thrown.ts";
import { clipText } from "../../schema/clip-text.ts";
import type { JsonObject } from "../../schema/json.ts";
import { copyClaims, maxClaimsChars } from "./copy-claims.ts";
import { copyScopes, maxScopeChars, maxScopes } from "./copy-scopes.ts";
import { maxResourceChars, maxResources, readResources, type Resources } from "./read-resources.ts";
import { withRevocation } from "./revocation.ts";

/** What a verdict is held against. */
export interface VerdictSetting {
  /** The token that it is about: nothing of it may be in what the verdict says. */
  readonly token: string;
  readonly resource: string;
  /** Told of a token that is good, and for somebody else: often it is ours, spelled otherwise in one of two places. */
  readonly elsewhere?: (sentence: string) => void;
  /** Seconds since 1970. */
  readonly now: number;
  /** Names of the claims that are part of a caller's identity. @default all claims */
  readonly identityClaims?: readonly string[] | undefined;
}

const maxIdBytes = 1024;
const maxShownBytes = 256;

/** Shorter ones are no secrets, and are found in every other text by chance. */
const shortestSecret = 16;

const encoder = new TextEncoder();

function refuse(what: string): SurfaceError {
  return new SurfaceError("INVALID_OUTPUT", `Verifying a token: the verifier's ${what}`);
}

function readId(id: unknown): string {
  if (typeof id === "string" && id !== "" && encoder.encode(id).length <= maxIdBytes) return id;
  throw refuse(`"id" must be a text that is not empty, of at most ${maxIdBytes} bytes`);
}

function readScopes(scopes: unknown): readonly string[] {
  const copy = copyScopes(scopes);
  if (copy !== undefined) return copy;
  throw refuse(`"scopes" must be a list of texts, at most ${maxScopes} of them and ${maxScopeChars} characters`);
}

function readClientId(clientId: unknown): { clientId?: string } {
  if (clientId === undefined) return {};
  if (typeof clientId === "string" && encoder.encode(clientId).length <= maxIdBytes) return { clientId };
  throw refuse(`"clientId" must be a text of at most ${maxIdBytes} bytes`);
}

function readIssuer(issuer: unknown): { issuer?: string } {
  if (issuer === undefined) return {};
  if (typeof issuer === "string" && encoder.encode(issuer).length <= maxIdBytes) return { issuer };
  throw refuse(`"issuer" must be a text of at most ${maxIdBytes} bytes`);
}

function readTime(time: unknown, name: string): number | undefined {
  if (time === undefined || (typeof time === "number" && Number.isFinite(time))) return time;
  throw refuse(`"${name}" must be a number of seconds`);
}

function readClaims(claims: unknown): { claims?: JsonObject } {
  if (claims === undefined) return {};
  const copy = copyClaims(claims);
  if (copy !== undefined) return { claims: copy };
  throw refuse(`"claims" must be an object in JSON, of at most ${maxClaimsChars} characters`);
}

function readGranted(resources: unknown): { resources?: Resources } {
  if (resources === undefined) return {};
  const granted = readResources(resources);
  if (granted !== undefined) return { resources: granted };
  throw refuse(
    `"resources" must be lists of texts by names, at most ${maxResources} of them and ${maxResourceChars} characters`,
  );
}

function readRevoked(revoked: unknown): AbortSignal | undefined {
  if (revoked === undefined || revoked instanceof AbortSignal) return revoked;
  throw refuse('"revoked" must be an AbortSignal');
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function toElsewhere(audience: unknown, resource: string): string {
  const names: readonly unknown[] = Array.isArray(audience) ? audience : [audience ?? []].flat();
  const all = names
    .map((name) => (name instanceof URL ? name.href : name))
    .filter(isText)
    .join('", "');
  const named = all === "" ? "nobody" : `"${clipText(all, maxShownBytes)}"`;
  return `Verifying a token: the verifier says that it is for ${named}, and this server is "${resource}"`;
}

/** Whom a token is for. None at all is no fault of the verifier's: there are such tokens, and they are no good here. */
function isFor(audience: unknown, resource: string): boolean {
  const all: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  const names = all.filter((one) => one !== undefined && one !== null);
  if (!names.every((one) => typeof one === "string" || one instanceof URL)) {
    throw refuse('"resource" must be a text, a URL, or a list of them');
  }
  return names.some((one) => (one instanceof URL ? one.href : one) === resource);
}

function isInForce(verdict: object, now: number, revoked: AbortSignal | undefined): boolean {
  if (revoked?.aborted === true) {
    handleThrown(revoked.reason);
    return false;
  }
  const expiresAt = readTime(Reflect.get(verdict, "expiresAt"), "expiresAt") ?? Number.POSITIVE_INFINITY;
  const notBefore = readTime(Reflect.get(verdict, "notBefore"), "notBefore") ?? 0;
  return notBefore <= now && now < expiresAt;
}

function readCaller(verdict: object): Caller {
  const expiresAt = readTime(Reflect.get(verdict, "expiresAt"), "expiresAt");
  return Object.freeze({
    id: readId(Reflect.get(verdict, "id")),
    ...readIssuer(Reflect.get(verdict, "issuer")),
    isAnonymous: false,
    scopes: readScopes(Reflect.get(verdict, "scopes")),
    ...readClientId(Reflect.get(verdict, "clientId")),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...readGranted(Reflect.get(verdict, "resources")),
    ...readClaims(Reflect.get(verdict, "claims")),
  });
}

/**
 * Makes a caller, with copies of its own, of what a verifier said of a token. `undefined`: the token is no good: the verifier
 * says so, it is for somebody else, it was taken back, or it is not its time.
 *
 * @throws SurfaceError `INVALID_OUTPUT` for what no verifier may say. Its text has nothing of the token.
 */
export function readVerdict(verdict: unknown, setting: VerdictSetting): Caller | undefined {
  const { token, resource, now, elsewhere, identityClaims } = setting;
  if (verdict === undefined || verdict === null || verdict === false) return undefined;
  if (typeof verdict !== "object") throw refuse("answer must be an object or undefined");
  const caller = readCaller(verdict);
  const audience: unknown = Reflect.get(verdict, "resource");
  if (!isFor(audience, resource)) {
    elsewhere?.(toElsewhere(audience, resource));
    return undefined;
  }
  const revoked = readRevoked(Reflect.get(verdict, "revoked"));
  if (!isInForce(verdict, now, revoked)) return undefined;
  if (token.length >= shortestSecret && JSON.stringify(caller).includes(token)) {
    throw refuse("answer must not have the token in it");
  }
  return identifiedBy(withRevocation(caller, revoked), identityClaims);
}

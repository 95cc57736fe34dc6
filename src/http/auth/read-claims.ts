import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { ownParam } from "../../mcp/protocol.ts";
import type { VerifiedToken } from "./http-auth.ts";
import { copyResources } from "./caller-fields.ts";

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

import { assertKnownOptions } from "../../options/known-names.ts";
import { invalidOption } from "../../options/read-options.ts";
import type { JsonObject } from "../../schema/json.ts";
import { copyClaims, maxClaimsChars } from "../auth/copy-claims.ts";
import { copyScopes, maxScopeChars, maxScopes } from "../auth/copy-scopes.ts";
import { maxResourceChars, maxResources, readResources } from "../auth/read-resources.ts";
import { isScopeToken } from "../auth/scope-token.ts";
import type { TokenRecord } from "./token-store.ts";

/** What a token is minted for. */
export interface TokenGrant {
  /** Who it speaks for: the same for every token of theirs, and nobody else's. At most 1 KiB. */
  readonly id: string;
  readonly scopes: readonly string[];
  /** What they may do to things of the application's own: actions by `type:id`, where `type:*` is all of a type. */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** The program that acts for them. */
  readonly clientId?: string;
  /** What handlers may know besides. */
  readonly claims?: JsonObject;
  /** Milliseconds until it is no good any more. Default: it is good until it is revoked. */
  readonly expiresInMs?: number;
}

/** The part of a record that a grant says. */
export type Granted = Pick<TokenRecord, "id" | "scopes" | "resources" | "clientId" | "claims">;

const doing = "Minting a token";
const names = ["id", "scopes", "resources", "clientId", "claims", "expiresInMs"];
const maxBytes = 1024;
const encoder = new TextEncoder();

function readText(value: unknown, name: string): string {
  if (typeof value === "string" && value !== "" && encoder.encode(value).length <= maxBytes) return value;
  throw invalidOption(doing, `"${name}" must be a text that is not empty, of at most ${maxBytes} bytes`);
}

function readScopes(scopes: unknown): readonly string[] {
  const copy = copyScopes(Array.isArray(scopes) ? [...new Set(scopes)] : scopes);
  if (copy?.every(isScopeToken) === true) return copy;
  const rule = `at most ${maxScopes} of them and ${maxScopeChars} characters`;
  throw invalidOption(
    doing,
    `"scopes" must be a list of scopes, each of visible ASCII without quotes and backslashes, ${rule}`,
  );
}

function readGranted(value: unknown): Pick<Granted, "resources"> {
  if (value === undefined) return {};
  const resources = readResources(value);
  if (resources !== undefined) return { resources };
  const rule = `at most ${maxResources} of them and ${maxResourceChars} characters`;
  throw invalidOption(doing, `"resources" must be lists of texts by names, ${rule}`);
}

function copyOf(value: unknown): JsonObject | undefined {
  try {
    return copyClaims(value);
  } catch {
    // Cyclic, or with a getter that throws.
    return undefined;
  }
}

function readClaims(value: unknown): Pick<Granted, "claims"> {
  if (value === undefined) return {};
  const claims = copyOf(value);
  if (claims !== undefined) return { claims };
  throw invalidOption(doing, `"claims" must be an object in JSON, of at most ${maxClaimsChars} characters`);
}

/**
 * Checks what a token is to be minted for, and makes a copy of it.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readGrant(grant: TokenGrant): Granted {
  assertKnownOptions(grant, names, doing);
  return {
    id: readText(grant.id, "id"),
    scopes: readScopes(grant.scopes),
    ...readGranted(grant.resources),
    ...(grant.clientId === undefined ? {} : { clientId: readText(grant.clientId, "clientId") }),
    ...readClaims(grant.claims),
  };
}

/**
 * When it is no good any more, in seconds since 1970.
 *
 * @param now - milliseconds since 1970.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readExpiry({ expiresInMs }: TokenGrant, now: number): Pick<TokenRecord, "expiresAt"> {
  if (expiresInMs === undefined) return {};
  if (Number.isFinite(expiresInMs) && expiresInMs > 0) return { expiresAt: (now + expiresInMs) / 1000 };
  throw invalidOption(doing, '"expiresInMs" must be a number of milliseconds above 0');
}

import { assertKnownOptions } from "../../options/known-names.ts";
import { invalidOption } from "../../options/read-options.ts";
import type { JsonObject } from "../../schema/json.ts";
import { claimsField, filledField, readFields, resourcesField, scopeTokensField } from "../auth/caller-fields.ts";
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
const fields = {
  id: { ...filledField, isRequired: true },
  scopes: scopeTokensField,
  resources: resourcesField,
  clientId: filledField,
  claims: claimsField,
};
const names = [...Object.keys(fields), "expiresInMs"];

/**
 * Checks what a token is to be minted for, and makes a copy of it.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readGrant(grant: TokenGrant): Granted {
  assertKnownOptions(grant, names, doing);
  // Each field has the type of its copy.
  return readFields(grant, fields, (problem) => invalidOption(doing, problem)) as Granted;
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

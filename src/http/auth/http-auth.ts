import type { JsonObject } from "../../schema/json.ts";

/** What a verifier found in a token that is genuine. */
export interface VerifiedToken {
  /**
   * The person or program that the token speaks for, the same for every token of theirs. Two callers may share an id if
   * `issuer`, `clientId` or an identity claim differs. Not empty, at most 1 KiB.
   */
  readonly id: string;
  /** The authority that issued the token. Two issuers may use one id for different callers. At most 1 KiB. */
  readonly issuer?: string;
  /** The granted scopes: at most 1,024, and 16 Ki characters as JSON. */
  readonly scopes: readonly string[];
  /**
   * Whom the token was made for, its audience (RFC 8707). Compared with the server's own `resource`, character by
   * character: a verifier that gives none lets nobody in.
   */
  readonly resource: string | URL | readonly string[];
  /** Seconds since 1970 from which on the token is no good. Left out: it does not expire. */
  readonly expiresAt?: number;
  /** Seconds since 1970 before which it is no good yet. */
  readonly notBefore?: number;
  /** The program that acts for them. At most 1 KiB. */
  readonly clientId?: string;
  /**
   * What they may do to things of the application's own: actions by `type:id`, where `type:*` is all of a type. At most 1,024
   * things, and 16 Ki characters. Default: nothing.
   */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** Fires when the token is taken back: what is listened to with it ends then, as it does when the token expires. */
  readonly revoked?: AbortSignal;
  /** What handlers may know besides. Never the token. */
  readonly claims?: JsonObject;
}

/** Who may ask: made by `bearer()` or `oauthResource()`. */
export interface HttpAuth {
  /** The server's own identifier, an absolute URL: what tokens must be made for. */
  readonly resource: string;
  /** What every token must have been granted, whatever is asked for. */
  readonly scopes: readonly string[];
  /** What the metadata of RFC 9728 lists besides these and `<surface>:read` and `<surface>:write`. Default: nothing. */
  readonly scopesSupported?: readonly string[];
  /** The issuers that clients are sent to, for RFC 9728. */
  readonly authorizationServers: readonly string[];
  /** How long a token may take to be verified, in milliseconds. */
  readonly timeoutMs: number;
  /** Names of the claims that are part of a caller's identity. @default all claims */
  readonly identityClaims?: readonly string[];
  /**
   * Says what is in a token; `undefined`: it is no good. What throws or does not answer in time lets nobody in.
   */
  verify(token: string, options: { readonly signal: AbortSignal }): Promise<VerifiedToken | undefined>;
}

import type { JsonObject } from "../../schema/json.ts";
import {
  listOf,
  option,
  required,
  wholeNumber,
  withDefault,
  type Option,
  type OptionFields,
  type WithDefaults,
  callable,
} from "../../options/option.ts";
import { type ReadOptions, readOptions } from "../../options/read-options.ts";
import { isLoopback } from "../addresses.ts";
import { isScopeToken } from "./caller-fields.ts";

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

/** What every sort of authentication is told. */
export interface AuthOptions {
  /**
   * The server's own identifier: the URL that clients know it by, for example `https://ci.example/mcp`. Tokens must be made
   * for exactly this, character by character: `https://ci.example` and `https://ci.example/` are two. Of a `URL`, its `href`.
   */
  readonly resource: string | URL;
  /** What every token must have been granted, whatever is asked for. Default: nothing. */
  readonly scopes?: readonly string[];
  /**
   * What the metadata for clients lists besides these and the scopes of the surface, `<surface>:read` and `<surface>:write`:
   * clients ask their users for all of them. Default: nothing. What else is asked for is told to whoever lacks it.
   */
  readonly scopesSupported?: readonly string[];
  /**
   * The issuers that clients are sent to, as URLs. Without one the server publishes no metadata for clients (RFC 9728).
   *
   * @default none
   */
  readonly authorizationServers?: readonly (string | URL)[];
  /** How long a token may take to be verified, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
  /**
   * Names of the claims that tell callers apart who share issuer, id and client, for example `["tenant"]`. Sessions, consent,
   * limits and everything else kept for a caller are separate then. Name them if another claim changes from one token of a
   * caller to the next, such as `jti`.
   *
   * @default all claims that the verifier returns
   */
  readonly identityClaims?: readonly string[];
}

function isSafe({ protocol, hostname }: URL): boolean {
  if (protocol === "https:") return true;
  return protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

function toUrl(value: unknown): URL | undefined {
  const text = value instanceof URL ? value.href : value;
  return typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
}

/** Returns true for the URL of a trusted server: no one on the way can answer in its place. */
function isAuthUrl(value: unknown): boolean {
  const url = toUrl(value);
  return url !== undefined && isSafe(url) && url.username === "" && url.password === "" && url.hash === "";
}

/** URLs of servers that are trusted. */
export const authUrl: Option = option(
  "an absolute URL without user and fragment, by https unless it is of this machine",
  isAuthUrl,
);

const scopeList = listOf(
  option("a scope of visible ASCII without quotes and backslashes", isScopeToken),
  "a list of scopes",
);

/** The server's own identifier. */
export const resourceOption: Option = required(
  option(
    "an absolute URL without user, query and fragment, by https unless it is of this machine",
    (value) => isAuthUrl(value) && toUrl(value)?.search === "",
  ),
);

/** Options of every kind of authentication. */
export const authFields: OptionFields<AuthOptions> & WithDefaults<"scopes" | "scopesSupported" | "timeoutMs"> = {
  resource: resourceOption,
  scopes: withDefault(scopeList, []),
  scopesSupported: withDefault(scopeList, []),
  authorizationServers: listOf(authUrl, "a list of URLs"),
  timeoutMs: withDefault(wholeNumber(1, 60_000, " of milliseconds"), 5000),
  identityClaims: option(
    "a list of names",
    (value) =>
      Array.isArray(value) && Array.from<unknown>(value).every((name) => typeof name === "string" && name !== ""),
  ),
};

/** Returns a URL as it was written: tokens and issuers are compared character by character. */
export function toUrlText(url: string | URL): string {
  return typeof url === "string" ? url : url.href;
}

/** Turns options that were read into authentication: frozen copies. */
export function toHttpAuth(read: ReadOptions<AuthOptions, typeof authFields>): Omit<HttpAuth, "verify"> {
  const { resource, scopes, scopesSupported, authorizationServers = [], timeoutMs, identityClaims } = read;
  return {
    resource: toUrlText(resource),
    scopes: Object.freeze([...new Set(scopes)]),
    scopesSupported: Object.freeze([...new Set(scopesSupported)]),
    authorizationServers: Object.freeze(authorizationServers.map(toUrlText)),
    timeoutMs,
    ...(identityClaims === undefined ? {} : { identityClaims: Object.freeze([...identityClaims]) }),
  };
}

/** What {@link bearer} takes. */
export interface BearerOptions extends AuthOptions {
  /** Says what is in a token; `undefined`: it is no good. What throws or does not answer in time lets nobody in. */
  readonly verify: HttpAuth["verify"];
}

const fields = { ...authFields, verify: required(callable) } satisfies OptionFields<BearerOptions>;

/**
 * Lets in who has a token that your own verifier knows. It is asked on every request, so that a token that was taken back is
 * no good from the next one on. Holds nothing that is to be disposed.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 *
 * @example
 * ```ts
 * import { bearer } from "surface-mcp/http";
 *
 * const resource = "https://ci.example/mcp";
 * const people = new Map([["0a1b2c", { id: "alice", scopes: ["ci:read"], resource }]]);
 * const auth = bearer({ resource, verify: async (token) => people.get(token) });
 * ```
 */
export function bearer(options: BearerOptions): HttpAuth {
  const { verify, ...common } = readOptions(options, fields, "Making bearer()");
  return Object.freeze({ ...toHttpAuth(common), verify });
}

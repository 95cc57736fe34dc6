import {
  callable,
  listOf,
  option,
  required,
  wholeNumber,
  withDefault,
  type Option,
  type OptionFields,
  type WithDefaults,
} from "../../options/option.ts";
import { type ReadOptions, readOptions } from "../../options/read-options.ts";
import type { JsonObject } from "../../schema/json.ts";
import { isLoopback } from "../addresses.ts";
import { isScopeToken } from "./caller-fields.ts";

/** A verifier's answer about a valid token. */
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
   * The audience of the token (RFC 8707). It must contain the server's `resource`, character by character: without an audience, no
   * token is accepted.
   */
  readonly resource: string | URL | readonly string[];
  /** Unix time (seconds) when the token expires. @default never */
  readonly expiresAt?: number;
  /** Unix time (seconds) when the token becomes valid. @default now */
  readonly notBefore?: number;
  /** The program that acts for the caller. At most 1 KiB. */
  readonly clientId?: string;
  /**
   * Granted actions on resources of the application, by `type:id`, where `type:*` means all of a type. At most 1,024 resources, and
   * 16 Ki characters. Default: none.
   */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
  /** Fires when the token is revoked. Streams and subscriptions opened with it are closed then, as when it expires. */
  readonly revoked?: AbortSignal;
  /** More data for handlers. Never the token. */
  readonly claims?: JsonObject;
}

/** Authentication, made by `bearer()` or `oauthResource()`. */
export interface HttpAuth {
  /** The server's identifier, an absolute URL: the audience of its tokens. */
  readonly resource: string;
  /** Scopes that every token must have. */
  readonly scopes: readonly string[];
  /** More scopes for the metadata of RFC 9728, which lists `<surface>:read` and `<surface>:write` anyway. Default: none. */
  readonly scopesSupported?: readonly string[];
  /** Issuers that clients are sent to, for RFC 9728. */
  readonly authorizationServers: readonly string[];
  /** Milliseconds that the verification of a token may take. */
  readonly timeoutMs: number;
  /** Names of the claims that are part of a caller's identity. @default all claims */
  readonly identityClaims?: readonly string[];
  /** Verifies a token; `undefined` for one that is not valid. If it throws or takes too long, the request is refused. */
  verify(token: string, options: { readonly signal: AbortSignal }): Promise<VerifiedToken | undefined>;
}

/** Options of every kind of authentication. */
export interface AuthOptions {
  /**
   * The server's identifier: the URL that clients know it by, for example `https://ci.example/mcp`. Tokens must be made for
   * exactly this text: `https://ci.example` and `https://ci.example/` differ. Of a `URL`, its `href`.
   */
  readonly resource: string | URL;
  /** Scopes that every token must have. Default: none. */
  readonly scopes?: readonly string[];
  /**
   * More scopes for the metadata for clients, which lists `scopes`, `<surface>:read` and `<surface>:write` anyway. Clients ask their
   * users for all of them. A client that lacks another scope gets its name with the refusal. Default: none.
   */
  readonly scopesSupported?: readonly string[];
  /**
   * Issuers that clients are sent to, as URLs. Without one the server publishes no metadata for clients (RFC 9728).
   *
   * @default none
   */
  readonly authorizationServers?: readonly (string | URL)[];
  /** Milliseconds that the verification of a token may take. Default 5,000. */
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

/** URLs of trusted servers. */
export const authUrl: Option = option(
  "an absolute URL without user and fragment, by https unless it is of this machine",
  isAuthUrl,
);

const scopeList = listOf(
  option("a scope of visible ASCII without quotes and backslashes", isScopeToken),
  "a list of scopes",
);

/** The server's identifier. */
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

/** Returns a URL as the author wrote it: tokens and issuers are compared character by character. */
export function toUrlText(url: string | URL): string {
  return typeof url === "string" ? url : url.href;
}

/** Turns validated options into authentication: frozen copies. */
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

/** Options of {@link bearer}. */
export interface BearerOptions extends AuthOptions {
  /** Verifies a token; `undefined` for one that is not valid. If it throws or takes too long, the request is refused. */
  readonly verify: HttpAuth["verify"];
}

const fields = { ...authFields, verify: required(callable) } satisfies OptionFields<BearerOptions>;

/**
 * Creates authentication by your own verifier. It is called for every request, so that a revoked token is refused from the next one
 * on. Needs no disposing.
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
  const { verify, ...common } = readOptions(options, fields, "Cannot create bearer()");
  return Object.freeze({ ...toHttpAuth(common), verify });
}

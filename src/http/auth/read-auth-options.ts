import { SurfaceError } from "../../errors.ts";
import { isLoopback } from "../loopback.ts";
import type { HttpAuth } from "./http-auth.ts";
import { isScopeToken } from "./scope-token.ts";

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

const defaultTimeoutMs = 5000;
const maxTimeoutMs = 60_000;

/** What is wrong with an option, as an error. */
export function refuseAuthOption(doing: string, what: string): SurfaceError {
  return new SurfaceError("INVALID_OPTION", `${doing}: ${what}`);
}

function isSafe({ protocol, hostname }: URL): boolean {
  if (protocol === "https:") return true;
  return protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

/**
 * Reads the URL of somebody who is trusted: nobody on the way may answer in their place.
 *
 * @param name - of the option.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readAuthUrl(value: unknown, name: string, doing: string): URL {
  const text = value instanceof URL ? value.href : value;
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isSafe(url)) {
    throw refuseAuthOption(doing, `"${name}" must be an absolute URL, by https unless it is of this machine`);
  }
  if (url.username === "" && url.password === "" && url.hash === "") return url;
  throw refuseAuthOption(doing, `"${name}" must have neither a user nor a fragment`);
}

function readResource(value: unknown, doing: string): string {
  const { search, href } = readAuthUrl(value, "resource", doing);
  if (search !== "") throw refuseAuthOption(doing, '"resource" must have no query');
  return typeof value === "string" ? value : href;
}

function readScopes(value: unknown, name: string, doing: string): readonly string[] {
  if (!Array.isArray(value) || !value.every(isScopeToken)) {
    throw refuseAuthOption(
      doing,
      `"${name}" must be a list of scopes, each of visible ASCII without quotes and backslashes`,
    );
  }
  return Object.freeze([...new Set(value)]);
}

function readServers(value: unknown, doing: string): readonly string[] {
  if (!Array.isArray(value)) throw refuseAuthOption(doing, '"authorizationServers" must be a list of URLs');
  const servers = value.map((one: unknown) => {
    const { href } = readAuthUrl(one, "authorizationServers", doing);
    // As it was written: an issuer is compared character by character.
    return typeof one === "string" ? one : href;
  });
  return Object.freeze(servers);
}

function readTimeout(value: unknown, doing: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maxTimeoutMs) return value;
  throw refuseAuthOption(doing, `"timeoutMs" must be a whole number from 1 to ${maxTimeoutMs}`);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function readIdentityClaims(value: unknown, doing: string): Pick<HttpAuth, "identityClaims"> {
  if (value === undefined) return {};
  const names: readonly unknown[] = Array.isArray(value) ? value : [undefined];
  if (names.every(isName)) return { identityClaims: Object.freeze([...names]) };
  throw refuseAuthOption(doing, '"identityClaims" must be a list of names');
}

/** The names of {@link AuthOptions}. */
export const authOptionNames: readonly string[] = [
  "resource",
  "scopes",
  "scopesSupported",
  "authorizationServers",
  "timeoutMs",
  "identityClaims",
];

/**
 * Checks what every sort of authentication is told, and fills in what was left out.
 *
 * @param doing - names who asks in errors, for example `Making bearer()`.
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function readAuthOptions(options: AuthOptions, doing: string): Omit<HttpAuth, "verify"> {
  const {
    resource,
    scopes = [],
    scopesSupported = [],
    authorizationServers = [],
    timeoutMs = defaultTimeoutMs,
  } = options;
  return {
    resource: readResource(resource, doing),
    scopes: readScopes(scopes, "scopes", doing),
    scopesSupported: readScopes(scopesSupported, "scopesSupported", doing),
    authorizationServers: readServers(authorizationServers, doing),
    timeoutMs: readTimeout(timeoutMs, doing),
    ...readIdentityClaims(options.identityClaims, doing),
  };
}

import { SurfaceError } from "../errors.ts";
import { type ResolvedLimits, resolveLimits } from "./budgets.ts";
import { assertHttpOptions } from "./check-options.ts";
import type { AllowedOrigins } from "./head/origin-list.ts";
import type { HttpHandlerOptions, HttpOptions } from "./http-options.ts";
import { isLoopback, isLoopbackAuthority, toAuthority } from "./loopback.ts";
import type { HttpBounds } from "./setting.ts";

/** The options of a handler, as they are in force. */
export interface ResolvedHandler extends Pick<HttpHandlerOptions, "auth" | "rateLimit" | "clientAddress"> {
  /** The values of `Host` that are answered; without a port: with any. */
  readonly hosts: readonly string[];
  readonly origins: AllowedOrigins;
  /** Whether clients on other machines are refused. */
  readonly isLocalOnly: boolean;
  readonly path: string;
  readonly sessions: boolean;
  readonly bounds: HttpBounds;
  readonly limits: ResolvedLimits;
  readonly drainMs: number;
}

/** The options of a server, as they are in force. */
export interface ResolvedServer extends ResolvedHandler {
  readonly port: number;
  readonly host: string;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly exit: boolean;
}

const loopbackHosts: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

function toBounds(options: HttpHandlerOptions): HttpBounds {
  const { maxSessions = 1024 } = options;
  return {
    maxSessions,
    maxSessionsPerPrincipal: options.maxSessionsPerPrincipal ?? Math.max(1, Math.floor(maxSessions / 16)),
    sessionIdleMs: options.sessionIdleMs ?? 300_000,
    maxQueued: options.maxQueued ?? 1024,
    maxInFlight: options.maxInFlight ?? 64,
    maxStreamsPerPrincipal: options.maxStreamsPerPrincipal ?? 16,
    maxStreams: options.maxStreams ?? 1024,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    stallMs: options.stallMs ?? 30_000,
  };
}

/** Whose pages may ask where nobody says: those of this machine, where only this machine's names are answered. */
function toOrigins({ allowedOrigins, allowedHosts }: HttpHandlerOptions): AllowedOrigins {
  if (allowedOrigins !== undefined) return [...allowedOrigins];
  return allowedHosts === undefined ? "loopback" : [];
}

/** Behind a proxy, and on a runtime of others, nothing is known of who comes but the name that they came by. */
function assertKnown({ auth, allowedHosts = [], allowAnonymous = false }: HttpHandlerOptions): void {
  if (allowAnonymous && auth !== undefined) {
    throw new SurfaceError(
      "INVALID_OPTION",
      'Serving over HTTP: "allowAnonymous" is true beside "auth", which lets in nobody who is anonymous',
    );
  }
  const host = allowedHosts.find((each) => !isLoopbackAuthority(each));
  if (host === undefined || auth !== undefined || allowAnonymous) return;
  const what = `Serving over HTTP: "allowedHosts" names "${host}", by which others come`;
  throw new SurfaceError(
    "INVALID_OPTION",
    `${what}, and needs "auth", or "allowAnonymous: true" for what anybody may do`,
  );
}

function toHandler(options: HttpHandlerOptions, hosts: readonly string[]): ResolvedHandler {
  assertKnown(options);
  const { auth, rateLimit, clientAddress } = options;
  return {
    ...(auth === undefined ? {} : { auth }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(clientAddress === undefined ? {} : { clientAddress }),
    hosts: [...(options.allowedHosts ?? hosts)],
    origins: toOrigins(options),
    isLocalOnly: auth === undefined && options.allowAnonymous !== true,
    path: options.path ?? "/mcp",
    sessions: options.sessions ?? true,
    bounds: toBounds(options),
    limits: resolveLimits(options.limits),
    drainMs: options.drainMs ?? 10_000,
  };
}

/**
 * Says which options of a handler are in force.
 *
 * @throws SurfaceError `INVALID_OPTION`, also for a name that is none.
 */
export function resolveHandlerOptions(options: HttpHandlerOptions): ResolvedHandler {
  assertHttpOptions(options, "handler");
  return toHandler(options, loopbackHosts);
}

function assertGuarded(host: string, { auth, allowedHosts }: HttpOptions): void {
  if (isLoopback(host) || (auth !== undefined && allowedHosts !== undefined)) return;
  const what = `Serving over HTTP: "host" is "${host}", which others can reach`;
  throw new SurfaceError("INVALID_OPTION", `${what}, and needs "auth" and "allowedHosts"`);
}

/**
 * Says which options of a server are in force.
 *
 * @throws SurfaceError `INVALID_OPTION`, also for a name that is none, and for an address that others reach without both
 * `auth` and `allowedHosts`.
 */
export function resolveServerOptions(options: HttpOptions): ResolvedServer {
  assertHttpOptions(options, "server");
  const { host = "127.0.0.1" } = options;
  assertGuarded(host, options);
  return {
    ...toHandler(options, [...new Set([...loopbackHosts, toAuthority(host)])]),
    port: options.port ?? 0,
    host,
    headersTimeoutMs: options.headersTimeoutMs ?? 10_000,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    exit: options.exit ?? true,
  };
}

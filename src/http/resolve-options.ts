import { invalidOption, readOptions } from "../options/read-options.ts";
import { type ResolvedLimits, resolveLimits } from "./budgets.ts";
import type { AllowedOrigins } from "./head/check-head.ts";
import type { HttpHandlerOptions, HttpOptions } from "./http-options.ts";
import { isLoopback, isLoopbackAuthority, toAuthority } from "./addresses.ts";
import { handlerFields, readServer, servingOverHttp, type ReadHandler, type ReadServer } from "./option-fields.ts";
import type { HttpBounds } from "./setting.ts";

/** The options of a handler that are in force. */
export interface ResolvedHandler extends Omit<ReadHandler, "limits" | "maxSessionsPerPrincipal">, HttpBounds {
  /** The accepted values of `Host`. One without a port is accepted with any port. */
  readonly hosts: readonly string[];
  readonly origins: AllowedOrigins;
  /** Whether clients on other machines are refused. */
  readonly isLocalOnly: boolean;
  readonly limits: ResolvedLimits;
}

/** The options of a server that are in force. */
export interface ResolvedServer extends ResolvedHandler, Omit<ReadServer, keyof ReadHandler> {}

const loopbackHosts: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Returns the origins that may connect. Without the option: those of this machine, if only its names are hosts. */
function toOrigins({ allowedOrigins, allowedHosts }: HttpHandlerOptions): AllowedOrigins {
  if (allowedOrigins !== undefined) return [...allowedOrigins];
  return allowedHosts === undefined ? "loopback" : [];
}

/** Behind a proxy, and on other runtimes than Node, the requested host is all that is known of a client. */
function assertKnown({ auth, allowedHosts = [], allowAnonymous }: ReadHandler): void {
  if (allowAnonymous && auth !== undefined) {
    throw invalidOption(
      servingOverHttp,
      '"allowAnonymous" must be left out beside "auth", which admits no anonymous caller',
    );
  }
  const host = allowedHosts.find((each) => !isLoopbackAuthority(each));
  if (host === undefined || auth !== undefined || allowAnonymous) return;
  throw invalidOption(
    servingOverHttp,
    `"allowedHosts" names "${host}", by which other machines connect, and needs "auth", or "allowAnonymous: true" for tools that everyone may use`,
  );
}

function toHandler(options: ReadHandler, hosts: readonly string[]): ResolvedHandler {
  assertKnown(options);
  const { auth, allowAnonymous, allowedHosts = hosts, maxSessions, limits } = options;
  return {
    maxSessionsPerPrincipal: Math.max(1, Math.floor(maxSessions / 16)),
    ...options,
    hosts: [...allowedHosts],
    origins: toOrigins(options),
    isLocalOnly: auth === undefined && !allowAnonymous,
    limits: resolveLimits(limits),
  };
}

/** Returns the options of a handler that are in force. @throws SurfaceError `INVALID_OPTION`. */
export function resolveHandlerOptions(options: HttpHandlerOptions): ResolvedHandler {
  return toHandler(readOptions(options, handlerFields, servingOverHttp), loopbackHosts);
}

/**
 * Returns the options of a server that are in force.
 *
 * @throws SurfaceError `INVALID_OPTION`, also for an address that others reach without both `auth` and `allowedHosts`.
 */
export function resolveServerOptions(options: HttpOptions): ResolvedServer {
  const read = readServer(options);
  const { host } = read;
  if (!isLoopback(host) && (read.auth === undefined || read.allowedHosts === undefined)) {
    throw invalidOption(
      servingOverHttp,
      `"host" is "${host}", which other machines can reach, and needs "auth" and "allowedHosts"`,
    );
  }
  const hosts = [...new Set([...loopbackHosts, toAuthority(host)])];
  return { ...read, ...toHandler(read, hosts) };
}

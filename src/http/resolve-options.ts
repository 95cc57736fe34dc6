import { invalidOption, readOptions, type ReadOptions } from "../options/read-options.ts";
import { type ResolvedLimits, resolveLimits, type HttpLimits, type LimitOptions } from "./budgets.ts";
import type { AllowedOrigins } from "./check-head.ts";
import type { HttpHandlerOptions, HttpOptions, RateLimits } from "./http-options.ts";
import { isLoopback, isLoopbackAuthority, toAuthority } from "./addresses.ts";
import type { HttpBounds } from "./setting.ts";
import { isFunction, isObject } from "../options/is-object.ts";
import {
  callable,
  flag,
  having,
  listOf,
  matching,
  numberFrom,
  object,
  type Option,
  type OptionFields,
  wholeNumber,
  withDefault,
  type WithDefaults,
} from "../options/option.ts";

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

/** The start of every message about these options. */
export const servingOverHttp = "Serving over HTTP";

/** Longer times make a timer fire at once. */
const longestMs = 2 ** 31 - 1;

const count = wholeNumber(1, 2 ** 31 - 1);
const stallTime = wholeNumber(1, longestMs, " of milliseconds");
const time = wholeNumber(0, longestMs, " of milliseconds");

/** Options of `memoryLimiter()`. */
export const rateFields: OptionFields<RateLimits> & WithDefaults<keyof RateLimits> = {
  perMinute: withDefault(numberFrom(1), 120),
  burst: withDefault(numberFrom(1), 20),
};

const rates = object<RateLimits>(rateFields);

const rateLimit: Option = {
  problem(value, path) {
    if (value === false || (isObject(value) && isFunction(Reflect.get(value, "limit")))) return undefined;
    return isObject(value) ? rates.problem(value, path) : `"${path}" must be false, limits or a limiter`;
  },
};

const limit = object<LimitOptions>({ total: wholeNumber(1), perCaller: wholeNumber(1) });

const limits = object<HttpLimits>({
  unreadBytes: limit,
  bodyBytes: limit,
  logBytes: limit,
  partBytes: limit,
  verifications: limit,
  knownVerifications: limit,
  connections: limit,
});

const host = matching(
  'a host with or without a port, like "ci.example:8443"',
  /^(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?$/i,
);
const origin = matching(
  'an origin, like "https://app.example"',
  /^https?:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?$/i,
);

type HandlerDefaults =
  | ("allowAnonymous" | "path" | "sessions" | "maxSessions" | "sessionIdleMs" | "maxQueued" | "maxInFlight")
  | ("maxStreamsPerPrincipal" | "maxStreams" | "keepAliveMs" | "stallMs" | "drainMs");

/** Options of `httpHandler()`. */
export const handlerFields: OptionFields<HttpHandlerOptions> & WithDefaults<HandlerDefaults> = {
  auth: having(["verify"], "made by bearer() or oauthResource()"),
  // A list that no request can meet is a mistake.
  allowedHosts: listOf(host, "a list of at least one host", { least: 1 }),
  allowedOrigins: listOf(origin, "a list of origins"),
  allowAnonymous: withDefault(flag, false),
  path: withDefault(matching('a path that starts with "/" and has no query', /^\/[^?#\s\\]*$/), "/mcp"),
  sessions: withDefault(flag, true),
  maxSessions: withDefault(count, 1024),
  maxSessionsPerPrincipal: count,
  sessionIdleMs: withDefault(time, 300_000),
  maxQueued: withDefault(count, 1024),
  maxInFlight: withDefault(count, 64),
  maxStreamsPerPrincipal: withDefault(count, 16),
  maxStreams: withDefault(count, 1024),
  rateLimit,
  clientAddress: callable,
  limits,
  keepAliveMs: withDefault(time, 15_000),
  stallMs: withDefault(stallTime, 30_000),
  drainMs: withDefault(time, 10_000),
};

/** Options of `http()`. */
export const serverFields: OptionFields<HttpOptions> &
  WithDefaults<HandlerDefaults | Exclude<keyof HttpOptions, keyof HttpHandlerOptions>> = {
  ...handlerFields,
  port: withDefault(wholeNumber(0, 65_535), 0),
  host: withDefault(matching("a name or an address", /^[^\s/[\]]+$/), "127.0.0.1"),
  headersTimeoutMs: withDefault(stallTime, 10_000),
  requestTimeoutMs: withDefault(stallTime, 30_000),
  exit: withDefault(flag, true),
};

/** The options of a handler, with their defaults. */
export type ReadHandler = ReadOptions<HttpHandlerOptions, typeof handlerFields>;

/** The options of a server, with their defaults. */
export type ReadServer = ReadOptions<HttpOptions, typeof serverFields>;

/** Reads the options of `http()`, each by itself. @throws SurfaceError `INVALID_OPTION`. */
export function readServer(options: HttpOptions): ReadServer {
  const read = readOptions(options, serverFields, servingOverHttp);
  if (read.headersTimeoutMs <= read.requestTimeoutMs) return read;
  throw invalidOption(servingOverHttp, '"headersTimeoutMs" must be at most "requestTimeoutMs", which includes it');
}

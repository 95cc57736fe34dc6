import type { RateLimiter } from "../call/limit-call.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { isFunction, isObject } from "../options/is-object.ts";
import {
  callable,
  flag,
  objectWithMethods,
  listOf,
  matching,
  numberFrom,
  object,
  option,
  type Option,
  type OptionFields,
  wholeNumber,
  withDefault,
  type WithDefaults,
} from "../options/option.ts";
import { invalidOption, readOptions, type ReadOptions } from "../options/read-options.ts";
import { type AddressedRequest, isLoopback, isLoopbackAuthority, toAuthority } from "./addresses.ts";
import type { HttpAuth } from "./auth/http-auth.ts";
import { forEachLimit, type HttpLimits, type LimitOptions, type ResolvedLimits, resolveLimits } from "./budgets.ts";
import type { AllowedOrigins } from "./check-head.ts";
import { type InspectorListenOptions, inspectorListenFields } from "./inspector/inspector-options.ts";

/** Limits on the tool calls of one caller, all tools together. */
export interface RateLimits {
  /** Calls per minute, of which a quarter may change something. Default 120: 120 calls, 30 changes. */
  readonly perMinute?: number;
  /** Calls in a row, of either kind, before they are spread over the minute. Default 20. */
  readonly burst?: number;
}

/** Options of {@link httpHandler}. All sizes and times are upper bounds. */
export interface HttpHandlerOptions {
  /** Authentication: `bearer()` or `oauthResource()`. Default: clients on this machine are served, anonymously. */
  readonly auth?: HttpAuth;
  /**
   * Accepted values of `Host`, exactly: `"ci.example"` with any port, `"ci.example:8443"` with that port.
   * Default: `localhost`, `127.0.0.1` and `[::1]`. Other values need `auth`, or `allowAnonymous`.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Serves clients on other machines without `auth`: everyone who can reach the server may use all that is exposed, also tools
   * that change something. A container whose port is published needs it, because its clients come from the bridge. Not together
   * with `auth`.
   *
   * @default false
   */
  readonly allowAnonymous?: boolean;
  /**
   * Origins whose pages may send requests, exactly: `"https://app.example"`. Default: `http://` and `https://` of the three
   * loopback names with any port, or none if `allowedHosts` is set.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * The path of messages, with or without a slash at its end. Under a framework: the whole path of the mounted handler.
   *
   * @default "/mcp"
   */
  readonly path?: string;
  /**
   * Whether clients up to 2025-11-25 are served, with sessions. With a `cluster`, every replica serves every session; `"sticky"`: only
   * the replica that opened it, for a proxy that sends a client to the same replica. Then another replica answers 404 at once.
   *
   * @default true
   */
  readonly sessions?: boolean | "sticky";
  /**
   * The replicas of the app, which share their state: `redis(client)` of `surface-mcp/redis`. The server does not start until the
   * store was reached once; `httpHandler()` does not wait. Default: this process serves alone.
   */
  readonly cluster?: Cluster;
  /**
   * Most open sessions, over all replicas. A further one ends the session that has been idle the longest, if that is at least 10 s,
   * or its client has closed its stream; in a `cluster`, only one that no other replica has served.
   *
   * @default 1024
   */
  readonly maxSessions?: number;
  /**
   * Most open sessions of one caller; anonymous sessions count only in `maxSessions`. A further one ends the caller's session that
   * has been idle the longest.
   *
   * @default a sixteenth of `maxSessions`, at least 1
   */
  readonly maxSessionsPerPrincipal?: number;
  /** Milliseconds until an idle session ends. Default 300,000; 0: never, or in a `cluster` a day after its last replica has ended. */
  readonly sessionIdleMs?: number;
  /** Most messages that are kept for a session: unread ones, and sent ones that may be lost. Default 1,024, at least 1. */
  readonly maxQueued?: number;
  /**
   * Most running requests of one caller, or of one anonymous session; 256 more wait. A request whose client has left or was
   * answered counts until its handler has ended. Default 64.
   */
  readonly maxInFlight?: number;
  /**
   * Most open subscriptions, and streams opened by GET, of one caller; anonymous ones count only in `maxStreams`. A stream that
   * answers a request does not count: `maxInFlight` bounds it. Default 16.
   */
  readonly maxStreamsPerPrincipal?: number;
  /** Most open subscriptions, and streams opened by GET. Default 1,024. */
  readonly maxStreams?: number;
  /**
   * Limits the calls of each caller, and more widely its requests that run nothing; with `auth` only. `false`: no limit.
   * @default the limits of {@link RateLimits}
   */
  readonly rateLimit?: false | RateLimits | RateLimiter;
  /**
   * Reads the address of a client, for example from a header that your proxy sets. Unknown tokens and anonymous callers are counted
   * by it. Read only a header that clients cannot set past the proxy.
   *
   * @default the address of the connection; none for `httpHandler().fetch`
   */
  readonly clientAddress?: (request: AddressedRequest) => string | undefined;
  /** Bounds of what callers can make the server hold. Defaults: see the guide on limits. */
  readonly limits?: HttpLimits;
  /** Milliseconds until a quiet stream gets a comment. Default 15,000; 0: never. */
  readonly keepAliveMs?: number;
  /**
   * Milliseconds that a client may leave a stream, or an answer of `http()` or `.node`, unread. Then its connection is dropped.
   * Default 30,000.
   */
  readonly stallMs?: number;
  /** Milliseconds that running requests, and answers under way, have to end when the server closes. Default 10,000. */
  readonly drainMs?: number;
}

/** Options of {@link http}. */
export interface HttpOptions extends HttpHandlerOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. A host that is not loopback needs `auth` and `allowedHosts`. */
  readonly host?: string;
  /** Milliseconds until the head of a request must have arrived. Default 10,000. */
  readonly headersTimeoutMs?: number;
  /** Milliseconds until a whole request must have arrived. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** Whether SIGTERM and SIGINT end the process, with code 0, after the server has closed. Default `true`. */
  readonly exit?: boolean;
  /**
   * Serves the live page to browsers on this machine only, and writes its link to standard error.
   * @default false
   */
  readonly inspector?: boolean | InspectorListenOptions;
}

/** The bounds in force: options or their defaults. */
export type HttpBounds = Required<
  Pick<
    HttpHandlerOptions,
    | ("maxSessions" | "maxSessionsPerPrincipal" | "sessionIdleMs" | "maxQueued" | "maxInFlight")
    | ("maxStreamsPerPrincipal" | "maxStreams" | "keepAliveMs" | "stallMs")
  >
>;

/** The options of a handler that are in force. */
export interface ResolvedHandler extends Omit<ReadHandler, "limits" | "maxSessionsPerPrincipal">, HttpBounds {
  /** The accepted values of `Host`. A name without a port is accepted with any port. */
  readonly hosts: readonly string[];
  readonly origins: AllowedOrigins;
  /** Whether clients on other machines are refused. */
  readonly isLocalOnly: boolean;
  readonly limits: ResolvedLimits;
}

/** The options of a server that are in force. */
export interface ResolvedServer extends ResolvedHandler, Omit<ReadServer, keyof ReadHandler> {}

const loopbackHosts: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** The start of every message about these options. */
const doing = "Cannot serve over HTTP";

/** Throws if other machines may connect without `auth`. Behind a proxy the server knows only the host of a request. */
function assertAuth({ auth, allowedHosts = [], allowAnonymous }: ReadHandler): void {
  if (allowAnonymous && auth !== undefined)
    throw invalidOption(
      doing,
      '"allowAnonymous" contradicts "auth", which refuses anonymous callers; remove one of them',
    );
  const host = allowedHosts.find((each) => !isLoopbackAuthority(each));
  if (host === undefined || auth !== undefined || allowAnonymous) return;
  const problem = `"allowedHosts" names "${host}", by which other machines connect, and needs "auth"`;
  throw invalidOption(doing, `${problem}, or "allowAnonymous: true" if everyone may use the exposed tools`);
}

function resolveHandler(options: ReadHandler, hosts: readonly string[]): ResolvedHandler {
  assertAuth(options);
  const { auth, allowAnonymous, allowedHosts, allowedOrigins, maxSessions, limits } = options;
  return {
    maxSessionsPerPrincipal: Math.max(1, Math.floor(maxSessions / 16)),
    ...options,
    hosts: [...(allowedHosts ?? hosts)],
    origins: allowedOrigins === undefined && allowedHosts === undefined ? "loopback" : [...(allowedOrigins ?? [])],
    isLocalOnly: auth === undefined && !allowAnonymous,
    limits: resolveLimits(limits),
  };
}

/** Returns the options of a handler that are in force. @throws SurfaceError `INVALID_OPTION`. */
export function resolveHandlerOptions(options: HttpHandlerOptions): ResolvedHandler {
  return resolveHandler(readOptions(options, handlerFields, doing), loopbackHosts);
}

/**
 * Returns the options of a server that are in force.
 *
 * @throws SurfaceError `INVALID_OPTION`, also for a host that other machines reach without both `auth` and `allowedHosts`.
 */
export function resolveServerOptions(options: HttpOptions): ResolvedServer {
  const read = readServer(options);
  const { host } = read;
  if (!isLoopback(host) && (read.auth === undefined || read.allowedHosts === undefined))
    throw invalidOption(
      doing,
      `"host" is "${host}", which other machines can reach, and needs "auth" and "allowedHosts"`,
    );
  const hosts = [...new Set([...loopbackHosts, toAuthority(host)])];
  return { ...read, ...resolveHandler(read, hosts) };
}

/** Longest delay of a timer, in milliseconds. A longer one fires at once. */
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

const host = matching(
  'a host with or without a port, like "ci.example:8443"',
  /^(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?$/i,
);
const origin = matching(
  'an origin, like "https://app.example"',
  /^https?:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?$/i,
);

const inspectorOptions = object<InspectorListenOptions>(inspectorListenFields);
const inspectorOption: Option = {
  problem(value, path) {
    if (typeof value === "boolean") return undefined;
    return isObject(value) ? inspectorOptions.problem(value, path) : `"${path}" must be true, false or options`;
  },
};

const sessionsOption = option('true, false or "sticky"', (value) => typeof value === "boolean" || value === "sticky");

type HandlerDefaults =
  | ("allowAnonymous" | "path" | "sessions" | "maxSessions" | "sessionIdleMs" | "maxQueued" | "maxInFlight")
  | ("maxStreamsPerPrincipal" | "maxStreams" | "keepAliveMs" | "stallMs" | "drainMs");

/** Options of `httpHandler()`. */
export const handlerFields: OptionFields<HttpHandlerOptions> & WithDefaults<HandlerDefaults> = {
  auth: objectWithMethods(["verify"], "made by bearer() or oauthResource()"),
  // A list that no request can meet is a mistake.
  allowedHosts: listOf(host, "a list of at least one host", { least: 1 }),
  allowedOrigins: listOf(origin, "a list of origins"),
  allowAnonymous: withDefault(flag, false),
  path: withDefault(matching('a path that starts with "/" and has no query', /^\/[^?#\s\\]*$/), "/mcp"),
  sessions: withDefault(sessionsOption, true),
  cluster: objectWithMethods(["open", "isAlive"], "made by redis() of surface-mcp/redis"),
  maxSessions: withDefault(count, 1024),
  maxSessionsPerPrincipal: count,
  sessionIdleMs: withDefault(time, 300_000),
  maxQueued: withDefault(count, 1024),
  maxInFlight: withDefault(count, 64),
  maxStreamsPerPrincipal: withDefault(count, 16),
  maxStreams: withDefault(count, 1024),
  rateLimit,
  clientAddress: callable,
  limits: object<HttpLimits>(forEachLimit(() => limit)),
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
  inspector: withDefault(inspectorOption, false),
};

/** The options of a handler, with their defaults. */
type ReadHandler = ReadOptions<HttpHandlerOptions, typeof handlerFields>;

/** The options of a server, with their defaults. */
type ReadServer = ReadOptions<HttpOptions, typeof serverFields>;

/** Reads the options of `http()`, each by itself. @throws SurfaceError `INVALID_OPTION`. */
export function readServer(options: HttpOptions): ReadServer {
  const read = readOptions(options, serverFields, doing);
  if (read.headersTimeoutMs <= read.requestTimeoutMs) return read;
  throw invalidOption(doing, '"headersTimeoutMs" must be at most "requestTimeoutMs", which includes it');
}

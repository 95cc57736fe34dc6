import { SurfaceError } from "../errors.ts";
import { isRecord } from "../options/is-object.ts";
import {
  filledText,
  listOf,
  matching,
  option,
  required,
  text,
  wholeNumber,
  withDefault,
  type OptionFields,
} from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Served } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import { heartbeat, linkLimits, type LinkLimits } from "./link-options.ts";
import type { Connection, Link } from "./link.ts";
import type { WebListening } from "./listening.ts";

/** Options of {@link webSocket}. */
export interface WebSocketOptions {
  /** Headers of the opening request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The `token` of `listenWebSocket()`, sent as `Authorization: Bearer …`. */
  readonly token?: string;
  /** Milliseconds of silence after which the far side is asked for a sign of life. @default 5_000 */
  readonly heartbeatMs?: number;
}

function assertUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && ["ws:", "wss:"].includes(parsed.protocol) && parsed.hash === "") return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Cannot make a link to "${url}": it must be a "ws:" or "wss:" URL without a fragment`,
  );
}

const linkFields: OptionFields<WebSocketOptions> = {
  headers: option("an object", isRecord),
  token: filledText,
  heartbeatMs: heartbeat,
};

/**
 * Creates a link to a live surface that is served with `listenWebSocket()`, on this machine or another.
 *
 * @throws SurfaceError `INVALID_OPTION` for another kind of URL. From `connect()`: `UNAVAILABLE` if no listener answers or it refuses,
 * `PROTOCOL_MISMATCH` if another server answers, `UNKNOWN_MEMBER` for a surface of another name, `ABORTED` when its signal fires.
 * @example
 * ```ts
 * const app = mcp(counter).bridge(webSocket("ws://127.0.0.1:4000/", { token: "s3cret" }));
 * await app.serve();
 * ```
 */
export function webSocket(url: string, options: WebSocketOptions = {}): Link {
  assertUrl(url);
  const { token, heartbeatMs, headers: given } = readOptions(options, linkFields, "Cannot make a link to a web socket");
  const headers = { ...given, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
  return Object.freeze({
    async connect<TAsked extends Spec>(surface: Surface<TAsked>, use: UseOptions = {}): Promise<Connection<TAsked>> {
      // Loaded by the first connection only.
      const { openWebClient } = await import("./web/open-web-client.ts");
      return openWebClient(surface, { url, headers, heartbeatMs, signal: use.signal });
    },
  });
}

/** Options of {@link listenWebSocket}. */
export interface ListenWebSocketOptions {
  /** The TCP port; 0 takes a free one. */
  readonly port: number;
  /** The address to listen on. An address that other machines reach needs a `token`. @default "127.0.0.1" */
  readonly host?: string;
  /** The path of the URL. @default "/" */
  readonly path?: string;
  /** The origins of web pages that may connect, for example "https://app.example.com". @default none */
  readonly origins?: readonly string[];
  /** Further host names of this machine, without a port. Loopback names and `host` are always allowed. */
  readonly hosts?: readonly string[];
  /** The secret that clients send as `Authorization: Bearer …`. */
  readonly token?: string;
  /** Milliseconds of silence after which a peer is asked for a sign of life. @default 5_000 */
  readonly heartbeatMs?: number;
  /** Bounds of the memory that peers can use. Defaults: see the guide on limits. */
  readonly limits?: LinkLimits;
}

const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.[0-9]+\.[0-9]+\.[0-9]+$/.test(host);
}

const doing = "Cannot listen for web sockets";

const listenerFields = {
  port: required(wholeNumber(0, 65_535)),
  host: withDefault(filledText, "127.0.0.1"),
  path: withDefault(matching('a path that starts with "/" and has no query', /^\/[^?#\s]*$/), "/"),
  origins: listOf(text, "a list of origins"),
  hosts: listOf(text, "a list of hosts"),
  token: filledText,
  heartbeatMs: heartbeat,
  limits: linkLimits,
} satisfies OptionFields<ListenWebSocketOptions>;

/**
 * Serves one or several live surfaces over web sockets, to at most 256 clients at once. Web pages may connect only from the
 * `origins`, and clients only by an expected host name. Keeps the process alive while it listens, and ends with the live surface.
 *
 * @throws SurfaceError `INVALID_OPTION`, also for an address that other machines reach and no token; `SOCKET_IN_USE` if
 * another process listens on the port, `UNAVAILABLE` if the system refuses, `CLOSED` for a live surface that is closed.
 * @example
 * ```ts
 * const listening = await listenWebSocket(live, { port: 4000, token: "s3cret" });
 * await listening.close();
 * ```
 */
export async function listenWebSocket(live: Served, options: ListenWebSocketOptions): Promise<WebListening> {
  const { origins = [], hosts = [], path, token, ...read } = readOptions(options, listenerFields, doing);
  const { host } = read;
  if (token === undefined && !isLoopback(host)) {
    throw invalidOption(doing, `"host" is "${host}", which other machines can reach, and needs a "token"`);
  }
  const own = host.includes(":") ? `[${host}]` : host;
  const names = new Set([...loopback, own, ...hosts].map((name) => name.toLowerCase()));
  // Loaded by the first listener only.
  const { openWebListener } = await import("./web/open-web-listener.ts");
  return openWebListener({ ...read, live, rules: { path, hosts: names, origins: new Set(origins), token } });
}

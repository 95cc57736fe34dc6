import {
  listOf,
  matching,
  filledText,
  required,
  text,
  wholeNumber,
  withDefault,
  type OptionFields,
} from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import type { Served } from "../surface/implement-surfaces.ts";
import { heartbeat } from "./heartbeat-option.ts";
import { linkLimits, type LinkLimits } from "./link-limits.ts";
import type { WebListening } from "./listening.ts";

/** What {@link listenWebSocket} may be told. */
export interface ListenWebSocketOptions {
  /** The TCP port; 0 takes one that is free. */
  readonly port: number;
  /** The address to listen on. Default "127.0.0.1": this machine alone. Any that others reach needs a `token`. */
  readonly host?: string;
  /** The path of the URL. Default "/". */
  readonly path?: string;
  /** The origins of web pages that may connect, for example "https://app.example.com". Default: none. */
  readonly origins?: readonly string[];
  /** Further names by which clients may call this machine, without a port. Loopback names and `host` always may. */
  readonly hosts?: readonly string[];
  /** What clients must know: they send it as `Authorization: Bearer …`. */
  readonly token?: string;
  /** After how much silence a peer is asked for a sign of life, in milliseconds. Default 5,000. */
  readonly heartbeatMs?: number;
  /** Bounds of what peers can make the listener hold. Defaults: see the guide on limits. */
  readonly limits?: LinkLimits;
}

const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.[0-9]+\.[0-9]+\.[0-9]+$/.test(host);
}

const doing = "Listening for web sockets";

const fields = {
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
 * Lets others connect to a live surface, or to several, over web sockets, up to 256 of them at once. Web pages may connect only from the
 * `origins` that are named, and nobody under a host name that is not expected. The process lives on while it listens;
 * when the live surface closes, the listener does.
 *
 * @throws SurfaceError `INVALID_OPTION`, also for an address that others reach without a token; `SOCKET_IN_USE` where
 * another process listens on the port, `UNAVAILABLE` for whatever the system refuses, `CLOSED` for a live surface that is
 * closed.
 * @example
 * ```ts
 * const listening = await listenWebSocket(live, { port: 4000, token: "s3cret" });
 * await listening.close();
 * ```
 */
export async function listenWebSocket(live: Served, options: ListenWebSocketOptions): Promise<WebListening> {
  const read = readOptions(options, fields, doing);
  const { port, host, path, origins = [], hosts = [], token, heartbeatMs, limits } = read;
  if (token === undefined && !isLoopback(host)) {
    throw invalidOption(doing, `"host" is "${host}", which other machines can reach, and needs a "token"`);
  }
  const own = host.includes(":") ? `[${host}]` : host;
  const names = new Set([...loopback, own, ...hosts].map((name) => name.toLowerCase()));
  // Only who listens loads what it takes.
  const { openWebListener } = await import("./web/open-web-listener.ts");
  return openWebListener({
    live,
    port,
    host,
    rules: { path, hosts: names, origins: new Set(origins), token },
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    ...(limits === undefined ? {} : { limits }),
  });
}

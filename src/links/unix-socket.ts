import type { OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Served } from "../surface/implement-surface.ts";
import type { Spec } from "../surface/member.ts";
import { assertSocketPath, heartbeat, linkLimits, type LinkLimits } from "./link-options.ts";
import type { Connection, Link } from "./link.ts";
import type { SocketListening } from "./listening.ts";

/** Options of {@link unixSocket}. */
export interface UnixSocketOptions {
  /** Milliseconds of silence after which the far side is asked for a sign of life. @default 5_000 */
  readonly heartbeatMs?: number;
}

const linkFields: OptionFields<UnixSocketOptions> = { heartbeatMs: heartbeat };

/**
 * Creates a link to a live surface that another process of this machine serves with `listenUnixSocket()`. The socket must
 * belong to the same user or to root, and so must its directory. Other users must not be able to write to that directory.
 *
 * @throws SurfaceError `INVALID_OPTION` for a path that no socket can have. From `connect()`: `UNAVAILABLE` if no process
 * answers; `UNSAFE_DIRECTORY`, `NOT_A_SOCKET`, `WRONG_OWNER` or `PROTOCOL_MISMATCH` if another process may answer;
 * `UNKNOWN_MEMBER` for a surface of another name; `ABORTED` when its signal fires.
 * @example
 * ```ts
 * const app = mcp(counter).bridge(unixSocket("/run/user/1000/counter/counter.sock"));
 * await app.serve();
 * ```
 */
export function unixSocket(path: string, options: UnixSocketOptions = {}): Link {
  const read = readOptions(options, linkFields, "Cannot make a link to a Unix socket");
  assertSocketPath(path);
  return Object.freeze({
    async connect<TAsked extends Spec>(surface: Surface<TAsked>, use: UseOptions = {}): Promise<Connection<TAsked>> {
      // Loaded by the first connection only.
      const { openUnixClient } = await import("./unix/open-unix-client.ts");
      return openUnixClient(surface, { ...read, path, signal: use.signal });
    },
  });
}

/** Options of {@link listenUnixSocket}. */
export interface ListenUnixSocketOptions {
  /** Milliseconds of silence after which a peer is asked for a sign of life. @default 5_000 */
  readonly heartbeatMs?: number;
  /** Bounds of the memory that peers can use. Defaults: see the guide on limits. */
  readonly limits?: LinkLimits;
}

const listenerFields: OptionFields<ListenUnixSocketOptions> = { heartbeatMs: heartbeat, limits: linkLimits };

/**
 * Serves one or several live surfaces over a Unix domain socket, to at most 256 processes of the same user. Creates its directory, for its
 * owner alone, and removes a socket that an ended process left; of several starters one gets the path. Keeps the process alive, and ends
 * with the live surface.
 *
 * @throws SurfaceError `SOCKET_IN_USE` if another process answers, `NOT_A_SOCKET`, `WRONG_OWNER`, `UNSAFE_DIRECTORY` if other users can
 * reach into the directory, `INVALID_OPTION` for a path that is too long, `UNAVAILABLE` if the system refuses, `CLOSED`.
 * @example
 * ```ts
 * const listening = await listenUnixSocket(live, "/run/user/1000/counter/counter.sock");
 * await listening.close();
 * ```
 */
export async function listenUnixSocket(
  live: Served,
  path: string,
  options: ListenUnixSocketOptions = {},
): Promise<SocketListening> {
  const read = readOptions(options, listenerFields, "Cannot listen on a Unix socket");
  // Loaded by the first listener only.
  const { openUnixListener } = await import("./unix/open-unix-listener.ts");
  return openUnixListener({ ...read, live, path });
}

import type { OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import type { Served } from "../surface/implement-surfaces.ts";
import { heartbeat } from "./heartbeat-option.ts";
import { linkLimits, type LinkLimits } from "./link-limits.ts";
import type { SocketListening } from "./listening.ts";

/** What {@link listenUnixSocket} may be told. */
export interface ListenUnixSocketOptions {
  /** After how much silence a peer is asked for a sign of life, in milliseconds. Default 5,000. */
  readonly heartbeatMs?: number;
  /** Bounds of what peers can make the listener hold. Defaults: see the guide on limits. */
  readonly limits?: LinkLimits;
}

const fields: OptionFields<ListenUnixSocketOptions> = { heartbeatMs: heartbeat, limits: linkLimits };

/**
 * Lets processes of the same user connect to a live surface, or to several, over a Unix domain socket, up to 256 of them at once. The
 * directory of the socket is made where it is absent, for its owner alone. What an ended process has left at the path is
 * removed; of several processes that start at once, one gets it. The process lives on while it listens; when the live
 * surface closes, the listener does.
 *
 * @throws SurfaceError `SOCKET_IN_USE` where another process answers, `NOT_A_SOCKET` where something else is at the path,
 * `WRONG_OWNER` for a socket of another user, `UNSAFE_DIRECTORY` where others can reach into the directory,
 * `INVALID_OPTION` for a path that is too long, `UNAVAILABLE` for whatever the system refuses, `CLOSED` for a live surface
 * that is closed.
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
  const read = readOptions(options, fields, "Listening on a Unix socket");
  // Only who listens loads what it takes.
  const { openUnixListener } = await import("./unix/open-unix-listener.ts");
  return openUnixListener({ ...read, live, path });
}

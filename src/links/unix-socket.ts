import type { OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { heartbeat } from "./heartbeat-option.ts";
import { assertSocketPath } from "./unix/socket-path.ts";
import type { Connection, Link } from "./link.ts";
import type { UseOptions } from "../surface/client.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";

/** What {@link unixSocket} may be told. */
export interface UnixSocketOptions {
  /** After how much silence the far side is asked for a sign of life, in milliseconds. Default 5,000. */
  readonly heartbeatMs?: number;
}

const fields: OptionFields<UnixSocketOptions> = { heartbeatMs: heartbeat };

/**
 * A link to a live surface that another process of this machine serves with `listenUnixSocket()`. The socket must belong
 * to the same user, or to root, and so must its directory, to which nobody else may write.
 *
 * @throws SurfaceError `INVALID_OPTION` for a path that no socket can have; from `connect()`: `UNAVAILABLE` where nobody
 * answers, `UNSAFE_DIRECTORY`, `NOT_A_SOCKET`, `WRONG_OWNER`, `PROTOCOL_MISMATCH` where somebody else may answer, `UNKNOWN_MEMBER` for a surface
 * of another name, `ABORTED` when its signal fires.
 * @example
 * ```ts
 * const app = mcp(counter).bridge(unixSocket("/run/user/1000/counter/counter.sock"));
 * await app.serve();
 * ```
 */
export function unixSocket(path: string, options: UnixSocketOptions = {}): Link {
  const read = readOptions(options, fields, "Making a link to a Unix socket");
  assertSocketPath(path);
  return Object.freeze({
    async connect<TAsked extends Spec>(surface: Surface<TAsked>, use: UseOptions = {}): Promise<Connection<TAsked>> {
      // Only who connects loads what it takes.
      const { openUnixClient } = await import("./unix/open-unix-client.ts");
      return openUnixClient(surface, { ...read, path, signal: use.signal });
    },
  });
}

import type { Socket } from "node:net";
import { SurfaceError } from "../../errors.ts";
import type { Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import type { Connection } from "../link.ts";
import { openWireClient, type WireClientOptions } from "../wire/open-wire-client.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import { connectSocket } from "./connect-socket.ts";
import { type FileAccess, ownAccess } from "./file-access.ts";
import { codeOf } from "../system-error.ts";
import { assertTrustedSocket } from "./trusted-socket.ts";

/** What a connection to a socket is made of. */
export interface UnixClientSetting extends Pick<WireClientOptions, "signal" | "heartbeatMs"> {
  readonly path: string;
  /** Default: this process and its files. */
  readonly access?: FileAccess | undefined;
}

const connectMs = 5000;

async function dial(setting: UnixClientSetting): Promise<Socket> {
  const { path, signal, access = ownAccess } = setting;
  try {
    await assertTrustedSocket(path, access);
    return await connectSocket({ path, signal, withinMs: connectMs });
  } catch (cause) {
    const code = codeOf(cause);
    const isOurs = cause instanceof SurfaceError && cause.code !== "TIMEOUT";
    if (isOurs) throw cause;
    throw new SurfaceError("UNAVAILABLE", `Connecting to "${path}": nobody listens there (${code})`, { cause });
  }
}

/**
 * Connects to whoever listens on a socket.
 *
 * @throws SurfaceError, as `unixSocket()` says.
 */
export async function openUnixClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  setting: UnixClientSetting,
): Promise<Connection<TSpec>> {
  const socket = await dial(setting);
  const transport = createStreamTransport({ input: socket, output: socket, destroy: () => socket.destroy() });
  return openWireClient(surface, transport, setting);
}

import type { Socket } from "node:net";
import { codeOf, SurfaceError } from "../../errors.ts";
import type { Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import type { Connection } from "../link.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import { openWireClient, type WireClientOptions } from "../wire/open-wire-client.ts";
import { connectSocket } from "./connect-socket.ts";
import { assertTrustedSocket, ownAccess, type FileAccess } from "./safe-paths.ts";

/** Options of {@link openUnixClient}. */
export interface UnixClientOptions extends Pick<WireClientOptions, "signal" | "heartbeatMs"> {
  readonly path: string;
  /** @default this process and its files */
  readonly access?: FileAccess | undefined;
}

const connectMs = 5000;

/** Connects to a socket that no other user controls. The caller destroys it. @throws SurfaceError as `unixSocket()`. */
export async function dialSocket(options: Pick<UnixClientOptions, "path" | "signal" | "access">): Promise<Socket> {
  const { path, signal, access = ownAccess } = options;
  try {
    await assertTrustedSocket(path, access);
    return await connectSocket({ path, signal, withinMs: connectMs });
  } catch (cause) {
    const code = codeOf(cause);
    const isOurs = cause instanceof SurfaceError && cause.code !== "TIMEOUT";
    if (isOurs) throw cause;
    throw new SurfaceError("UNAVAILABLE", `Cannot connect to "${path}": no process listens there (${code})`, { cause });
  }
}

/** Connects to a socket. @throws SurfaceError as `unixSocket()`. */
export async function openUnixClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  options: UnixClientOptions,
): Promise<Connection<TSpec>> {
  const socket = await dialSocket(options);
  const transport = createStreamTransport({ input: socket, output: socket, destroy: () => socket.destroy() });
  return openWireClient(surface, transport, options);
}

import { once } from "node:events";
import { chmod, lstat, unlink } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, resolve } from "node:path";
import type { Scope } from "../../spine/scope.ts";
import type { Served } from "../../surface/implement-surface.ts";
import { assertSocketPath } from "../link-options.ts";
import { Peers, startListening, type PeerOptions, type SocketListening } from "../listening.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import { besidePath, claimPath, removeOwn } from "./claim-path.ts";
import { assurePrivateFolder, ownAccess, unlessAbsent, type FileAccess } from "./safe-paths.ts";

/** Options of {@link openUnixListener}. */
export interface UnixListenerOptions extends PeerOptions {
  readonly live: Served;
  readonly path: string;
  /** @default this process and its files */
  readonly access?: FileAccess | undefined;
}

/** Listens beside `path`: between bind() and listen() a socket refuses connections, and looks dead to other starters. */
async function bind(server: Server, path: string): Promise<string> {
  const from = besidePath(path);
  server.listen({ path: from });
  await once(server, "listening");
  await chmod(from, 0o600);
  return from;
}

async function claim(server: Server, path: string, access: FileAccess): Promise<number> {
  const from = await bind(server, path);
  try {
    const { ino } = await lstat(from);
    await claimPath(from, path, access);
    return ino;
  } catch (cause) {
    await unlessAbsent(unlink(from));
    throw cause;
  }
}

function accept(peers: Peers): Server {
  return createServer((socket: Socket) => {
    peers.add(createStreamTransport({ input: socket, output: socket, destroy: () => socket.destroy(), isWary: true }));
  });
}

async function open(options: UnixListenerOptions, path: string, scope: Scope): Promise<Pick<SocketListening, "stats">> {
  const { live, access = ownAccess } = options;
  await assurePrivateFolder(dirname(path), access);
  const peers = new Peers(live, options);
  const server = accept(peers);
  scope.add(() => peers.closeWith(server));
  const inode = await claim(server, path, access);
  // Without file descriptors a connection cannot be accepted. Its peer connects again.
  server.on("error", () => {});
  scope.add(() => removeOwn(path, inode));
  return { stats: () => peers.stats() };
}

/** Listens on a socket. @throws SurfaceError as `listenUnixSocket()`. */
export async function openUnixListener(options: UnixListenerOptions): Promise<SocketListening> {
  const path = resolve(options.path);
  assertSocketPath(path);
  return startListening({
    live: options.live,
    where: path,
    open: async (scope) => ({ ...(await open(options, path, scope)), path }),
  });
}

import { once } from "node:events";
import { chmod, lstat, unlink } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, resolve } from "node:path";
import type { Scope } from "../../spine/scope.ts";
import type { Served } from "../../surface/implement-surfaces.ts";
import type { SocketListening } from "../listening.ts";
import { readLinkUse } from "../link-limits.ts";
import { type PeerOptions, Peers } from "../serve-peers.ts";
import { startListening } from "../start-listening.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import { besidePath, claimPath } from "./claim-path.ts";
import { type FileAccess, ownAccess, unlessAbsent } from "./file-access.ts";
import { assurePrivateFolder } from "./private-folder.ts";
import { assertSocketPath } from "./socket-path.ts";

/** What a listener on a socket is made of. */
export interface UnixListenerSetting extends PeerOptions {
  readonly live: Served;
  readonly path: string;
  /** Default: this process and its files. */
  readonly access?: FileAccess | undefined;
}

/** Listens under a name of its own: between binding and listening a socket looks like one that nobody answers on. */
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

/** Removes what is at `path` where it is still ours: as long as we listen, no other file has our inode. */
async function removeOwn(path: string, inode: number): Promise<void> {
  const stats = await unlessAbsent(lstat(path));
  if (stats?.ino === inode) await unlessAbsent(unlink(path));
}

function accept(peers: Peers): Server {
  return createServer((socket: Socket) => {
    peers.add(createStreamTransport({ input: socket, output: socket, destroy: () => socket.destroy(), isWary: true }));
  });
}

async function open(setting: UnixListenerSetting, path: string, scope: Scope): Promise<Pick<SocketListening, "stats">> {
  const { live, access = ownAccess } = setting;
  await assurePrivateFolder(dirname(path), access);
  const peers = new Peers(live, setting);
  const server = accept(peers);
  scope.add(async () => {
    const isClosed = server.listening ? once(server, "close") : undefined;
    server.close();
    await peers.close();
    await isClosed;
  });
  const inode = await claim(server, path, access);
  // A peer that could not be accepted, for want of file descriptors, tries again: no reason to end.
  server.on("error", () => {});
  scope.add(() => removeOwn(path, inode));
  return { stats: () => ({ limits: readLinkUse(peers.budgets) }) };
}

/**
 * Listens on a socket.
 *
 * @throws SurfaceError, as `listenUnixSocket()` says.
 */
export async function openUnixListener(setting: UnixListenerSetting): Promise<SocketListening> {
  const path = resolve(setting.path);
  assertSocketPath(path);
  return startListening({
    live: setting.live,
    where: path,
    open: async (scope) => {
      return { ...(await open(setting, path, scope)), path };
    },
  });
}

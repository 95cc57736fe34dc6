import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { lstatSync, renameSync } from "node:fs";
import { chmod, link, lstat, unlink } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, SurfaceError } from "../../errors.ts";
import { assertSocketPath, maxSocketPathBytes } from "../link-options.ts";
import { type PeerOptions, Peers, type SocketListening, startListening } from "../listening.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import { isAnswering } from "./connect-socket.ts";
import { assurePrivateFolder, type FileAccess, ownAccess, unlessAbsent } from "./safe-paths.ts";
import type { Scope } from "../../spine/scope.ts";
import type { Served } from "../../surface/implement-surface.ts";

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

async function bindAndClaim(server: Server, path: string, access: FileAccess): Promise<number> {
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

/**
 * Makes a server listen on a socket of this user alone, in a private directory. The scope removes the socket; the caller closes the server.
 *
 * @throws SurfaceError as `listenUnixSocket()`, and the errors of the system.
 */
export async function listenPrivately(
  server: Server,
  { path, access = ownAccess }: Pick<UnixListenerOptions, "path" | "access">,
  scope: Scope,
): Promise<void> {
  await assurePrivateFolder(dirname(path), access);
  const inode = await bindAndClaim(server, path, access);
  // Without file descriptors a connection cannot be accepted. Its peer connects again.
  server.on("error", () => {});
  scope.add(() => removeOwn(path, inode));
}

async function open(options: UnixListenerOptions, path: string, scope: Scope): Promise<Pick<SocketListening, "stats">> {
  const { live, access } = options;
  const peers = new Peers(live, options);
  const server = accept(peers);
  scope.add(() => peers.closeWith(server));
  await listenPrivately(server, { path, access }, scope);
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

/** A starter holds the lock for milliseconds. */
const patienceMs = 5000;
const retryMs = 20;

/** A path, and the socket beside it that gets the path. */
export interface Claim {
  readonly path: string;
  readonly from: string;
}

/** Creates a hard link. Returns false if there is a file already. */
async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false;
    throw cause;
  }
}

/** Removes a file with this inode. No other file has it as long as its socket is in use. */
async function removeOwn(path: string, inode: number): Promise<void> {
  const stats = await unlessAbsent(lstat(path));
  if (stats?.ino === inode) await unlessAbsent(unlink(path));
}

/**
 * Removes a socket on which no process answers; returns false for any other file. Another starter may replace it meanwhile: one of this
 * process cannot come between the synchronous calls, and against those of others it moves the socket aside and connects again.
 */
async function removeDead(path: string): Promise<boolean> {
  const stats = await lstat(path);
  if (stats.isDirectory() || (await isAnswering(path)) || lstatSync(path).ino !== stats.ino) return false;
  const aside = besidePath(path);
  renameSync(path, aside);
  const isDead = !(await isAnswering(aside));
  // Fails if a third process has put its socket there: that one is live too.
  if (!isDead) await linkNew(aside, path);
  await unlink(aside);
  return isDead;
}

/**
 * Runs `act` while no other process does so for the same path. The lock is a link to the socket of its holder: if it outlives a killed
 * process, no process answers on it. Process ids are no substitute: they are reused, and each container numbers its own.
 * @throws SurfaceError `SOCKET_IN_USE` if others have the lock for longer than `withinMs`; the errors of `act`.
 */
export async function withLock<TValue>(
  { path, from }: Claim,
  act: () => Promise<TValue>,
  withinMs: number = patienceMs,
): Promise<TValue> {
  const lock = `${path}.lock`;
  // Monotonic: the time of day may be set meanwhile.
  const until = performance.now() + withinMs;
  while (!(await linkNew(from, lock))) {
    if (performance.now() >= until) {
      const problem = `another process is starting there; if there is none, remove "${lock}"`;
      throw new SurfaceError("SOCKET_IN_USE", `Cannot listen on "${path}": ${problem}`);
    }
    if (!(await unlessAbsent(removeDead(lock)))) await sleep(retryMs);
  }
  const { ino } = await lstat(from);
  try {
    return await act();
  } finally {
    await removeOwn(lock, ino);
  }
}

const maxAttempts = 8;
const longName = 16;

/** Returns an unused path beside `path`, short enough for a socket. */
function besidePath(path: string): string {
  const folder = dirname(path);
  const length = Math.max(1, Math.min(longName, maxSocketPathBytes - Buffer.byteLength(folder) - 1));
  for (;;) {
    const name = randomBytes(longName).toString("hex").slice(0, length);
    if (name !== basename(path)) return join(folder, name);
  }
}

function toInUse(path: string): SurfaceError {
  return new SurfaceError("SOCKET_IN_USE", `Cannot listen on "${path}": another process already listens there`);
}

/** Removes a dead socket of this user from `path`. */
async function clearPath(claim: Claim, access: FileAccess): Promise<void> {
  const { path } = claim;
  const stats = await unlessAbsent(access.lstat(path));
  if (stats === undefined) return;
  if (!stats.isSocket()) {
    throw new SurfaceError(
      "NOT_A_SOCKET",
      `Cannot listen on "${path}": the file there is not a socket; remove it, or use another path`,
    );
  }
  if (access.uid !== undefined && stats.uid !== access.uid) {
    throw new SurfaceError(
      "WRONG_OWNER",
      `Cannot listen on "${path}": the socket there belongs to user ${stats.uid}, and this process is user ${access.uid}`,
    );
  }
  if (await isAnswering(path)) throw toInUse(path);
  // Absent if another starter has removed it.
  if ((await unlessAbsent(withLock(claim, () => removeDead(path)))) === false) throw toInUse(path);
}

/** Moves a listening socket to `path`, for one of several starters. @throws SurfaceError `SOCKET_IN_USE`, `NOT_A_SOCKET`, `WRONG_OWNER`. */
async function claimPath(from: string, path: string, access: FileAccess): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    await clearPath({ path, from }, access);
    // Unlike rename(), it does not replace a file.
    if (await linkNew(from, path)) return unlink(from);
  }
  throw toInUse(path);
}

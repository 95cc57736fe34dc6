import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, renameSync, unlinkSync } from "node:fs";
import { link, lstat, rename, unlink, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, SurfaceError } from "../../errors.ts";
import { maxSocketPathBytes } from "../link-options.ts";
import { isAnswering } from "./connect-socket.ts";
import { unlessAbsent, type FileAccess } from "./safe-paths.ts";

/** A lock that is older belongs to a stuck process: no other holds one for so long. */
const abandonedMs = 10_000;
/** Longer than a lock is honoured, so that a starter waits for a stuck lock to expire. */
const patienceMs = 15_000;
const retryMs = 20;

/** A path, and the socket beside it that gets the path. */
export interface Claim {
  readonly path: string;
  readonly from: string;
}

/** Returns the inode of the lock, or `undefined` if another process has it. */
async function takeLock(lock: string, from: string): Promise<number | undefined> {
  try {
    // The lock gets the times of the socket, which may have waited for it.
    const now = new Date();
    await utimes(from, now, now);
    const { ino } = await lstat(from);
    await link(from, lock);
    return ino;
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return undefined;
    throw cause;
  }
}

/**
 * Removes a lock if it has this inode. Synchronous, so that no other starter of this process comes between the check and the
 * removal; for those of other processes it moves the lock aside and checks again.
 */
function removeLock(lock: string, inode: number): void {
  const aside = `${lock}.${randomBytes(8).toString("hex")}`;
  try {
    if (lstatSync(lock).ino !== inode) return;
    renameSync(lock, aside);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return;
    throw cause;
  }
  try {
    if (lstatSync(aside).ino !== inode) linkSync(aside, lock);
  } catch (cause) {
    // A third process has the lock now. That cannot be undone, and the holder of a lock checks twice itself.
    if (codeOf(cause) !== "EEXIST") throw cause;
  } finally {
    unlinkSync(aside);
  }
}

/** Removes the lock of a process that was killed, on which no process answers, or that is stuck. */
async function removeAbandonedLock(lock: string): Promise<void> {
  const stats = await unlessAbsent(lstat(lock));
  // No starter creates a directory there.
  if (stats === undefined || stats.isDirectory()) return;
  // A time far ahead is from before the clock was set back.
  const isOld = Math.abs(Date.now() - stats.mtimeMs) > abandonedMs;
  // Beside the longest paths there is no room for a name that can be connected to: there, age must do.
  if (!isOld && (Buffer.byteLength(lock) > maxSocketPathBytes || (await isAnswering(lock)))) return;
  removeLock(lock, stats.ino);
}

async function acquire({ path, from }: Claim, lock: string, withinMs: number): Promise<number> {
  // Monotonic: the time of day may be set meanwhile.
  const until = performance.now() + withinMs;
  for (;;) {
    const inode = await takeLock(lock, from);
    if (inode !== undefined) return inode;
    if (performance.now() >= until) {
      throw new SurfaceError("SOCKET_IN_USE", `Cannot listen on "${path}": other processes are starting there`);
    }
    await removeAbandonedLock(lock);
    await sleep(retryMs);
  }
}

/**
 * Runs `act` while no other process does so for the same path. The lock is a link to the socket of its holder: it outlives
 * `act` only if the process is killed, and then no process answers on it. A process id is no substitute: the system reuses ids, and
 * each container numbers its own processes.
 *
 * @throws SurfaceError `SOCKET_IN_USE` if others have the lock for longer than `withinMs`; the errors of `act`.
 */
export async function withLock<TValue>(
  claim: Claim,
  act: () => Promise<TValue>,
  withinMs: number = patienceMs,
): Promise<TValue> {
  const lock = `${claim.path}.lock`;
  const inode = await acquire(claim, lock, withinMs);
  try {
    return await act();
  } finally {
    // By inode: it may have expired, and another process may have it.
    removeLock(lock, inode);
  }
}

const maxAttempts = 8;
const longName = 16;

/** Returns an unused path beside `path`, short enough for a socket. */
export function besidePath(path: string): string {
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

/**
 * Removes a socket on which no process answers. Another starter may put a live one there meanwhile: those that remove a socket
 * hold the lock, and against others it moves the socket aside and connects again.
 */
async function removeStale(path: string): Promise<void> {
  if (await isAnswering(path)) throw toInUse(path);
  const aside = besidePath(path);
  await rename(path, aside);
  if (!(await isAnswering(aside))) return unlink(aside);
  // Fails if a third process has put its socket there: that one is live too.
  await link(aside, path).catch(() => {});
  await unlink(aside);
  throw toInUse(path);
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
  await unlessAbsent(withLock(claim, () => removeStale(path)));
}

/**
 * Moves a listening socket from `from` to `path`. Of several starters one succeeds, and none removes the socket of another.
 *
 * @throws SurfaceError `SOCKET_IN_USE`, `NOT_A_SOCKET`, `WRONG_OWNER`.
 */
export async function claimPath(from: string, path: string, access: FileAccess): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    await clearPath({ path, from }, access);
    try {
      // Unlike rename(), it fails if there is a file.
      await link(from, path);
      return await unlink(from);
    } catch (cause) {
      if (codeOf(cause) !== "EEXIST") throw cause;
    }
  }
  throw toInUse(path);
}

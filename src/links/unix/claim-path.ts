import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { lstatSync, renameSync } from "node:fs";
import { link, lstat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, SurfaceError } from "../../errors.ts";
import { maxSocketPathBytes } from "../link-options.ts";
import { isAnswering } from "./connect-socket.ts";
import { unlessAbsent, type FileAccess } from "./safe-paths.ts";

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
export async function removeOwn(path: string, inode: number): Promise<void> {
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
export async function claimPath(from: string, path: string, access: FileAccess): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    await clearPath({ path, from }, access);
    // Unlike rename(), it does not replace a file.
    if (await linkNew(from, path)) return unlink(from);
  }
  throw toInUse(path);
}

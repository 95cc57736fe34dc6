import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, renameSync, unlinkSync } from "node:fs";
import { link, lstat, utimes } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { SurfaceError } from "../../errors.ts";
import { codeOf } from "../system-error.ts";
import { unlessAbsent } from "./file-access.ts";
import { isAnswering } from "./connect-socket.ts";
import { isSocketPath } from "./socket-path.ts";

/** A lock that is older belongs to a process that is stuck: nobody else holds one for so long. */
const abandonedMs = 10_000;
/** Longer than a lock is honoured, so that one that is stuck is no reason to give up. */
const patienceMs = 15_000;
const retryMs = 20;

/** A path, and a socket beside it on which whoever wants the path listens. */
export interface Claim {
  readonly path: string;
  readonly from: string;
}

/** Answers the inode of the lock, or `undefined` where another has it. */
async function take(lock: string, from: string): Promise<number | undefined> {
  try {
    // Its age is that of the lock, and not of the wait for it.
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
 * Removes a lock where it is the one that was looked at. Another starter may have removed it meanwhile and taken it: nothing
 * else of this process runs between the look and the removal, and for other processes what is removed is moved aside first,
 * and looked at again.
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
    // A third has it now, and that cannot be undone: what a lock is for looks twice itself.
    if (codeOf(cause) !== "EEXIST") throw cause;
  } finally {
    unlinkSync(aside);
  }
}

/** Removes the lock of a process that was killed, since nobody answers on it, or of one that is stuck. */
async function forgetAbandoned(lock: string): Promise<void> {
  const stats = await unlessAbsent(lstat(lock));
  // What no starter makes is left alone.
  if (stats === undefined || stats.isDirectory()) return;
  // A time that is far ahead is one of before the clock was set back.
  const isOld = Math.abs(Date.now() - stats.mtimeMs) > abandonedMs;
  // Beside the longest of paths there is no room for a name that can be asked: there, age has to do.
  if (!isOld && (!isSocketPath(lock) || (await isAnswering(lock)))) return;
  removeLock(lock, stats.ino);
}

async function acquire({ path, from }: Claim, lock: string, withinMs: number): Promise<number> {
  // Not the time of day, which may be set while it waits.
  const until = performance.now() + withinMs;
  for (;;) {
    const inode = await take(lock, from);
    if (inode !== undefined) return inode;
    if (performance.now() >= until) {
      throw new SurfaceError("SOCKET_IN_USE", `Listening on "${path}": others are starting there, and nobody may`);
    }
    await forgetAbandoned(lock);
    await sleep(retryMs);
  }
}

/**
 * Runs `act` while no other process does that for the same path. The lock is the socket of whoever has it, under a name
 * beside the path: it outlives `act` only where its process is killed, and then nobody answers on it. A number of a process
 * would say less: another one may have it by then, and one in another container has numbers of its own.
 *
 * @throws SurfaceError `SOCKET_IN_USE` where others have it for longer than `withinMs`; and what `act` throws.
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
    // Where it took so long that it was removed, another has it.
    removeLock(lock, inode);
  }
}

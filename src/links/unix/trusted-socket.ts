import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { SurfaceError } from "../../errors.ts";
import type { FileAccess } from "./file-access.ts";
import { assertSafeAncestors, isTrusted, ownFolderAdvice } from "./safe-ancestors.ts";

const superuser = 0;
const othersWrite = 0o022;
const othersEnter = 0o011;
const sticky = 0o1000;

function toUnsafe(path: string, problem: string): SurfaceError {
  return new SurfaceError("UNSAFE_DIRECTORY", `Connecting to "${path}": its directory must be ${problem}`);
}

/** Asked first: what is found in a directory that others can write to says nothing of what is there a moment later. */
async function assertFolder(path: string, access: FileAccess): Promise<Stats> {
  const { uid } = access;
  const stats = await access.lstat(dirname(path));
  if (!stats.isDirectory()) throw toUnsafe(path, "a directory, and no link to one, and is none");
  if (uid === undefined) return stats;
  if (!isTrusted(stats.uid, uid)) {
    throw toUnsafe(path, `of user ${uid} or ${superuser}, and is of user ${stats.uid}`);
  }
  if ((stats.mode & othersWrite) === 0) {
    await assertSafeAncestors(dirname(path), `Connecting to "${path}"`, access);
    return stats;
  }
  const isShared = (stats.mode & sticky) !== 0;
  const advice = isShared ? ownFolderAdvice(dirname(path)) : `run: chmod go-w "${dirname(path)}"`;
  throw toUnsafe(path, `writable by its owner alone, and has mode ${toOctal(stats)}; ${advice}`);
}

function toOctal({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** What others can connect to is not what only this user's processes speak to: its owner may have been told anything. */
function assertPrivate(path: string, socket: Stats, folder: Stats): void {
  if ((socket.mode & othersWrite) === 0 || (folder.mode & othersEnter) === 0) return;
  throw new SurfaceError(
    "UNSAFE_DIRECTORY",
    `Connecting to "${path}": other users can connect to it, by mode ${toOctal(socket)}; run: chmod 600 "${path}"`,
  );
}

/**
 * Refuses a socket that is not of this user or root, or that somebody else could put another in the place of between the
 * look and the connection, by its own directory or by one above it; and a socket that others can connect to. A sticky directory
 * of the socket itself is refused too: when the socket is gone
 * for a moment, anybody may put one there.
 *
 * @throws SurfaceError `UNSAFE_DIRECTORY`, also for the mode of the socket, `NOT_A_SOCKET`, also for a link to one, or `WRONG_OWNER`; the system's error
 * where there is nothing.
 */
export async function assertTrustedSocket(path: string, access: FileAccess): Promise<void> {
  const folder = await assertFolder(path, access);
  const { uid } = access;
  const stats = await access.lstat(path);
  if (!stats.isSocket()) {
    throw new SurfaceError("NOT_A_SOCKET", `Connecting to "${path}": it must be a socket, and is none`);
  }
  if (uid === undefined) return;
  if (isTrusted(stats.uid, uid)) return assertPrivate(path, stats, folder);
  throw new SurfaceError(
    "WRONG_OWNER",
    `Connecting to "${path}": the socket must be of user ${uid} or ${superuser}, and is of user ${stats.uid}`,
  );
}

import { dirname } from "node:path";
import { SurfaceError } from "../../errors.ts";
import type { FileAccess } from "./file-access.ts";

const superuser = 0;
const othersWrite = 0o022;

function isTrusted(owner: number, uid: number): boolean {
  return owner === uid || owner === superuser;
}

function toUnsafe(path: string, problem: string): SurfaceError {
  return new SurfaceError("UNSAFE_DIRECTORY", `Connecting to "${path}": its directory must be ${problem}`);
}

/** Asked first: what is found in a directory that others can write to says nothing of what is there a moment later. */
async function assertFolder(path: string, access: FileAccess): Promise<void> {
  const { uid } = access;
  const stats = await access.lstat(dirname(path));
  if (!stats.isDirectory()) throw toUnsafe(path, "a directory, and no link to one, and is none");
  if (uid === undefined) return;
  if (!isTrusted(stats.uid, uid)) {
    throw toUnsafe(path, `of user ${uid} or ${superuser}, and is of user ${stats.uid}`);
  }
  if ((stats.mode & othersWrite) === 0) return;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  throw toUnsafe(path, `writable by its owner alone, and has mode ${mode}; run: chmod go-w "${dirname(path)}"`);
}

/**
 * Refuses a socket that is not of this user or root, or that somebody else could put another in the place of between the
 * look and the connection: whoever owns it is who is spoken to. A sticky directory is refused too: when the socket is gone
 * for a moment, anybody may put one there.
 *
 * @throws SurfaceError `UNSAFE_DIRECTORY`, `NOT_A_SOCKET`, also for a link to one, or `WRONG_OWNER`; the system's error
 * where there is nothing.
 */
export async function assertTrustedSocket(path: string, access: FileAccess): Promise<void> {
  await assertFolder(path, access);
  const { uid } = access;
  const stats = await access.lstat(path);
  if (!stats.isSocket()) {
    throw new SurfaceError("NOT_A_SOCKET", `Connecting to "${path}": it must be a socket, and is none`);
  }
  if (uid === undefined || isTrusted(stats.uid, uid)) return;
  throw new SurfaceError(
    "WRONG_OWNER",
    `Connecting to "${path}": the socket must be of user ${uid} or ${superuser}, and is of user ${stats.uid}`,
  );
}

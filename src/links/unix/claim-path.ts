import { randomBytes } from "node:crypto";
import { link, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SurfaceError } from "../../errors.ts";
import { type FileAccess, unlessAbsent } from "./file-access.ts";
import { codeOf } from "../system-error.ts";
import { isAnswering } from "./connect-socket.ts";
import { spareBytes } from "./socket-path.ts";
import { type Claim, withLock } from "./with-lock.ts";

const maxAttempts = 8;
const longName = 16;

/** A path beside `path` that nobody else uses, no longer than a socket's may be. */
export function besidePath(path: string): string {
  const folder = dirname(path);
  const length = Math.max(1, Math.min(longName, spareBytes(folder)));
  for (;;) {
    const name = randomBytes(longName).toString("hex").slice(0, length);
    if (name !== basename(path)) return join(folder, name);
  }
}

function toInUse(path: string): SurfaceError {
  return new SurfaceError("SOCKET_IN_USE", `Listening on "${path}": another process answers there, and nobody may`);
}

/**
 * Removes a socket that nobody answers on. Between the answer and the removal another starter may put a live one in its
 * place: those who remove take turns, and what is removed is moved aside and asked again, for those who do not.
 */
async function removeStale(path: string): Promise<void> {
  if (await isAnswering(path)) throw toInUse(path);
  const aside = besidePath(path);
  await rename(path, aside);
  if (!(await isAnswering(aside))) return unlink(aside);
  // Fails where a third has come meanwhile: that one is live too, and is the one that is found.
  await link(aside, path).catch(() => {});
  await unlink(aside);
  throw toInUse(path);
}

/** Makes room at `path`, where that is ours to make. */
async function clear(claim: Claim, access: FileAccess): Promise<void> {
  const { path } = claim;
  const stats = await unlessAbsent(access.lstat(path));
  if (stats === undefined) return;
  if (!stats.isSocket()) {
    throw new SurfaceError("NOT_A_SOCKET", `Listening on "${path}": what is there must be a socket, and is none`);
  }
  if (access.uid !== undefined && stats.uid !== access.uid) {
    throw new SurfaceError(
      "WRONG_OWNER",
      `Listening on "${path}": the socket there must be of user ${access.uid}, and is of user ${stats.uid}`,
    );
  }
  if (await isAnswering(path)) throw toInUse(path);
  // Gone meanwhile: another starter has removed it.
  await unlessAbsent(withLock(claim, () => removeStale(path)));
}

/**
 * Gives a socket that is listening under the name `from` the name `path`, which it has alone from then on: of several who
 * start at once one succeeds, and none removes what another has just put there.
 *
 * @throws SurfaceError `SOCKET_IN_USE`, `NOT_A_SOCKET`, `WRONG_OWNER`.
 */
export async function claimPath(from: string, path: string, access: FileAccess): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    await clear({ path, from }, access);
    try {
      // Unlike a move, it fails where something is.
      await link(from, path);
      return await unlink(from);
    } catch (cause) {
      if (codeOf(cause) !== "EEXIST") throw cause;
    }
  }
  throw toInUse(path);
}

import type { Stats } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { SurfaceError } from "../../errors.ts";
import { codeOf } from "../system-error.ts";
import { type FileAccess, unlessAbsent } from "./file-access.ts";
import { assertSafeAncestors, ownFolderAdvice } from "./safe-ancestors.ts";

const anybodyElse = 0o077;
const sticky = 0o1000;

/** How many segments a directory has at most that others may need as it is, such as `/tmp`, `/var/run` or a home. */
const sharedDepth = 2;

/** Whether to change the mode of a directory could break what is not the application's. */
async function isShared(folder: string, { mode }: Stats, access: FileAccess): Promise<boolean> {
  if ((mode & sticky) !== 0) return true;
  if (folder.split(sep).filter(Boolean).length > sharedDepth) return false;
  const parent = await access.lstat(dirname(folder));
  return (parent.mode & sticky) === 0;
}

function toUnsafe(folder: string, problem: string): SurfaceError {
  return new SurfaceError(
    "UNSAFE_DIRECTORY",
    `Listening in "${folder}": it must be a directory of ours alone, ${problem}`,
  );
}

/** Level by level: the system's own way tries for ever where a parent is there and takes no directory, as in `/proc`. */
async function makeFolder(folder: string, access: FileAccess): Promise<void> {
  if ((await unlessAbsent(access.lstat(folder))) !== undefined) return;
  await makeFolder(dirname(folder), access);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (cause) {
    // Another starter was faster; what it has made is looked at like ours.
    if (codeOf(cause) !== "EEXIST") throw cause;
  }
}

/**
 * Makes the directory of a socket where it is absent, for its owner alone, and refuses one that others can reach into, or
 * replace from above: whoever can write there can put a socket of their own in the place of ours.
 *
 * @throws SurfaceError `UNSAFE_DIRECTORY`.
 */
export async function assurePrivateFolder(folder: string, access: FileAccess): Promise<void> {
  await makeFolder(folder, access);
  const stats = await access.lstat(folder);
  if (!stats.isDirectory()) throw toUnsafe(folder, "and is none");
  if (access.uid !== undefined && stats.uid !== access.uid) {
    const owners = `and belongs to user ${stats.uid}; this process is user ${access.uid}`;
    throw toUnsafe(folder, `${owners}; ${ownFolderAdvice(folder)}`);
  }
  const mode = stats.mode & 0o777;
  if (access.uid === undefined || (mode & anybodyElse) === 0) {
    return assertSafeAncestors(folder, `Listening in "${folder}"`, access);
  }
  const advice = (await isShared(folder, stats, access)) ? ownFolderAdvice(folder) : `run: chmod 700 "${folder}"`;
  throw toUnsafe(folder, `and has mode ${mode.toString(8).padStart(4, "0")}; ${advice}`);
}

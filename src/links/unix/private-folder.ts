import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { SurfaceError } from "../../errors.ts";
import { codeOf } from "../system-error.ts";
import { type FileAccess, unlessAbsent } from "./file-access.ts";

const anybodyElse = 0o077;

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
 * Makes the directory of a socket where it is absent, for its owner alone, and refuses one that others can reach into:
 * whoever can write there can put a socket of their own in the place of ours.
 *
 * @throws SurfaceError `UNSAFE_DIRECTORY`.
 */
export async function assurePrivateFolder(folder: string, access: FileAccess): Promise<void> {
  await makeFolder(folder, access);
  const stats = await access.lstat(folder);
  if (!stats.isDirectory()) throw toUnsafe(folder, "and is none");
  if (access.uid !== undefined && stats.uid !== access.uid) {
    throw toUnsafe(folder, `and belongs to user ${stats.uid}; this process is user ${access.uid}`);
  }
  const mode = stats.mode & 0o777;
  if (access.uid === undefined || (mode & anybodyElse) === 0) return;
  throw toUnsafe(folder, `and has mode ${mode.toString(8).padStart(4, "0")}; run: chmod 700 "${folder}"`);
}

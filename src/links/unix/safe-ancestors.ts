import type { Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SurfaceError } from "../../errors.ts";
import type { FileAccess } from "./file-access.ts";

const superuser = 0;
const groupWrites = 0o020;
const othersWrite = 0o002;
const sticky = 0o1000;

/** Whether a user cannot act against this process: its own user, and root. */
export function isTrusted(owner: number, uid: number): boolean {
  return owner === uid || owner === superuser;
}

/** Whether only trusted users can rename or remove the entries of a directory that belong to them. */
function isSafe({ mode, gid }: Stats, uid: number): boolean {
  if ((mode & sticky) !== 0) return true;
  // Where each user has a group of the same number, new directories are writable by that group, and only its user is in it.
  return (mode & othersWrite) === 0 && ((mode & groupWrites) === 0 || gid === uid || gid === superuser);
}

/** Says to use a directory that only the application uses. */
export function ownFolderAdvice(folder: string): string {
  return `use a directory of the application's own, for example "${join(folder, "my-app")}"`;
}

/** Every directory above a path, the root first. */
function ancestorsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...ancestorsOf(parent), parent];
}

async function findProblem(at: string, uid: number, access: FileAccess): Promise<string | undefined> {
  const stats = await access.lstat(at);
  if (!isTrusted(stats.uid, uid)) return `"${at}" above it belongs to user ${stats.uid}`;
  // A link is as safe as the directory that it is in, which was looked at before.
  if (stats.isSymbolicLink() || isSafe(stats, uid)) return undefined;
  return `others can write to "${at}" above it, by mode ${(stats.mode & 0o7777).toString(8).padStart(4, "0")}`;
}

/**
 * Refuses a directory above which somebody else could put another one in its place: each directory above it must belong to
 * this user or root, and must be writable by them alone or have its sticky bit set. Follows links, and looks at both ways.
 *
 * @throws SurfaceError `UNSAFE_DIRECTORY`; the system's error where there is nothing.
 */
export async function assertSafeAncestors(folder: string, doing: string, access: FileAccess): Promise<void> {
  const { uid } = access;
  if (uid === undefined) return;
  // From the root on: below a directory that was found safe nothing changes meanwhile.
  const above = new Set([...ancestorsOf(resolve(folder)), ...ancestorsOf(await realpath(folder))]);
  for (const at of above) {
    const problem = await findProblem(at, uid, access);
    if (problem === undefined) continue;
    throw new SurfaceError("UNSAFE_DIRECTORY", `${doing}: ${problem}; ${ownFolderAdvice("~/.cache")}`);
  }
}

import type { Stats } from "node:fs";
import { readlink } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { SurfaceError } from "../../errors.ts";
import type { FileAccess } from "./file-access.ts";

const superuser = 0;
const groupWrites = 0o020;
const othersWrite = 0o002;
const sticky = 0o1000;
/** As Linux: a path through more links has no end, or changes while it is read. */
const maxLinks = 40;

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

/**
 * Returns the user id that the files of root have in a user namespace of Linux that does not map root, else `undefined`. All
 * other users without a mapping have the same id there.
 */
async function readUnmappedRoot(access: FileAccess): Promise<number | undefined> {
  try {
    const map = await access.readText("/proc/self/uid_map");
    // A line is the first id inside, the first id outside, and how many follow.
    if (map.split("\n").some((line) => line.trim().split(/\s+/)[1] === "0")) return undefined;
    return Number(await access.readText("/proc/sys/kernel/overflowuid"));
  } catch {
    // Another system, or one without these files.
    return undefined;
  }
}

/** A directory or symbolic link on the way, and the directory that it is in. */
interface Step {
  readonly at: string;
  readonly stats: Stats;
  /** `undefined` for the root. */
  readonly parent: Step | undefined;
}

/** Whether the entry belongs to this user or root. An entry that anyone can make may belong to any unmapped user. */
async function isOurs({ stats, parent }: Step, uid: number, access: FileAccess): Promise<boolean> {
  if (isTrusted(stats.uid, uid)) return true;
  const isShared = parent !== undefined && (parent.stats.mode & (groupWrites | othersWrite)) !== 0;
  return !isShared && stats.uid === (await readUnmappedRoot(access));
}

async function findProblem(step: Step, uid: number, access: FileAccess): Promise<string | undefined> {
  const { at, stats } = step;
  if (!(await isOurs(step, uid, access))) return `"${at}" on the way to it belongs to user ${stats.uid}`;
  // A link cannot be written to, and the directory that it is in was checked before.
  if (stats.isSymbolicLink() || isSafe(stats, uid)) return undefined;
  return `others can write to "${at}" on the way to it, by mode ${(stats.mode & 0o7777).toString(8).padStart(4, "0")}`;
}

function namesOf(path: string): readonly string[] {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return isAbsolute(path) ? ["/", ...names] : names;
}

/** Looks a path up as the system does, from the root on: nothing changes below a directory that was found safe. */
async function findProblemOnWay(path: string, uid: number, access: FileAccess): Promise<string | undefined> {
  const names = [...namesOf(path)];
  let links = 0;
  let parent: Step | undefined;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "/") parent = undefined;
    const at = join(parent?.at ?? "/", name);
    const stats = await access.lstat(at);
    const step = { at, stats, parent };
    const problem = await findProblem(step, uid, access);
    if (problem !== undefined) return problem;
    if (!stats.isSymbolicLink()) {
      parent = step;
      continue;
    }
    links += 1;
    if (links > maxLinks) return `more than ${maxLinks} symbolic links are on the way to it`;
    names.unshift(...namesOf(await readlink(at)));
  }
  return undefined;
}

/**
 * Refuses a directory that other users could replace. Each directory and symbolic link on the way to it must belong to this
 * user or root. Each directory must be writable by them alone, or have its sticky bit set. Every link of a chain is checked.
 *
 * @throws SurfaceError `UNSAFE_DIRECTORY`; the system's error for an absent directory.
 */
export async function assertSafeAncestors(folder: string, doing: string, access: FileAccess): Promise<void> {
  const { uid } = access;
  if (uid === undefined) return;
  // Not by resolve(): it drops `..` together with the link before it, and the system follows that link first.
  const path = isAbsolute(folder) ? folder : `${process.cwd()}/${folder}`;
  const problem = await findProblemOnWay(path, uid, access);
  if (problem === undefined) return;
  throw new SurfaceError("UNSAFE_DIRECTORY", `${doing}: ${problem}; ${ownFolderAdvice("~/.cache")}`);
}

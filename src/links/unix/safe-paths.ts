import type { Stats } from "node:fs";
import { lstat, mkdir, readFile, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, sep } from "node:path";
import { codeOf, SurfaceError } from "../../errors.ts";

/** Access to files by a user. A test replaces it, because owners are compared and a test has one user only. */
export interface FileAccess {
  /** The user id of this process; `undefined` where users have no ids. */
  readonly uid: number | undefined;
  /** As the function of `node:fs/promises`. */
  lstat(path: string): Promise<Stats>;
  /** Returns the text of a file of the system. */
  readText(path: string): Promise<string>;
}

/** This process and its files. */
export const ownAccess: FileAccess = Object.freeze({
  uid: process.getuid?.(),
  lstat,
  readText: (path: string) => readFile(path, "utf8"),
});

/** Returns the result of `operation`, or `undefined` if there is no such file. */
export async function unlessAbsent<TValue>(operation: Promise<TValue>): Promise<TValue | undefined> {
  try {
    return await operation;
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

const superuser = 0;
const groupWrites = 0o020;
const othersWrite = 0o002;
const sticky = 0o1000;
/** As in Linux: a path through more links has no end, or changes while it is read. */
const maxLinks = 40;

function toOctal({ mode }: Stats, bits = 0o7777): string {
  return (mode & bits).toString(8).padStart(4, "0");
}

/** Whether a user cannot act against this process: its own user, and root. */
function isTrusted(owner: number, uid: number): boolean {
  return owner === uid || owner === superuser;
}

/** Whether only trusted users can rename or remove the entries of a directory that belong to them. */
function isSafe({ mode, gid }: Stats, uid: number): boolean {
  if ((mode & sticky) !== 0) return true;
  // Where each user has a group of the same number, new directories are writable by that group, and only its user is in it.
  return (mode & othersWrite) === 0 && ((mode & groupWrites) === 0 || gid === uid || gid === superuser);
}

function ownFolderAdvice(folder: string): string {
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

/** A directory or symbolic link of a path, and the directory that it is in. */
interface Step {
  readonly at: string;
  readonly stats: Stats;
  /** `undefined` for the root. */
  readonly parent: Step | undefined;
}

/** Whether the entry belongs to this user or root. An entry that anyone can make may belong to any unmapped user. */
async function isOurs({ stats, parent }: Step, uid: number, access: FileAccess): Promise<boolean> {
  if (isTrusted(stats.uid, uid)) return true;
  const isOpen = parent !== undefined && (parent.stats.mode & (groupWrites | othersWrite)) !== 0;
  return !isOpen && stats.uid === (await readUnmappedRoot(access));
}

async function findProblem(step: Step, uid: number, access: FileAccess): Promise<string | undefined> {
  const { at, stats } = step;
  if (!(await isOurs(step, uid, access))) return `"${at}" on the way to it belongs to user ${stats.uid}`;
  // A link cannot be written to, and the directory that it is in was checked before.
  if (stats.isSymbolicLink() || isSafe(stats, uid)) return undefined;
  return `others can write to "${at}" on the way to it, by mode ${toOctal(stats)}`;
}

function namesOf(path: string): readonly string[] {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return isAbsolute(path) ? ["/", ...names] : names;
}

/** Resolves a path as the system does, from the root on: nothing changes below a directory that was found safe. */
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

/** The longest directory, in segments, that others may need as it is, such as `/tmp`, `/var/run` or a home. */
const sharedDepth = 2;

/** Whether changing the mode of a directory could break other applications. */
async function isShared(folder: string, { mode }: Stats, access: FileAccess): Promise<boolean> {
  if ((mode & sticky) !== 0) return true;
  if (folder.split(sep).filter(Boolean).length > sharedDepth) return false;
  const parent = await access.lstat(dirname(folder));
  return (parent.mode & sticky) === 0;
}

function toNotPrivate(folder: string, problem: string): SurfaceError {
  return new SurfaceError(
    "UNSAFE_DIRECTORY",
    `Listening in "${folder}": it must be a directory of ours alone, ${problem}`,
  );
}

/** Level by level: `mkdir()` with `recursive` never ends below a parent that takes no directory, as in `/proc`. */
async function makeFolder(folder: string, access: FileAccess): Promise<void> {
  if ((await unlessAbsent(access.lstat(folder))) !== undefined) return;
  await makeFolder(dirname(folder), access);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (cause) {
    // Another starter was faster; its directory is checked like ours.
    if (codeOf(cause) !== "EEXIST") throw cause;
  }
}

/**
 * Creates the directory of a socket if it is absent, for its owner alone. Refuses one that other users can reach into, or
 * replace from above: they could put a socket of their own in the place of ours.
 *
 * @throws SurfaceError `UNSAFE_DIRECTORY`.
 */
export async function assurePrivateFolder(folder: string, access: FileAccess): Promise<void> {
  await makeFolder(folder, access);
  const stats = await access.lstat(folder);
  if (!stats.isDirectory()) throw toNotPrivate(folder, "and is none");
  if (access.uid !== undefined && stats.uid !== access.uid) {
    const owners = `and belongs to user ${stats.uid}; this process is user ${access.uid}`;
    throw toNotPrivate(folder, `${owners}; ${ownFolderAdvice(folder)}`);
  }
  if (access.uid === undefined || (stats.mode & 0o077) === 0) {
    return assertSafeAncestors(folder, `Listening in "${folder}"`, access);
  }
  const advice = (await isShared(folder, stats, access)) ? ownFolderAdvice(folder) : `run: chmod 700 "${folder}"`;
  throw toNotPrivate(folder, `and has mode ${toOctal(stats, 0o777)}; ${advice}`);
}

function toUnsafe(path: string, problem: string): SurfaceError {
  return new SurfaceError("UNSAFE_DIRECTORY", `Connecting to "${path}": its directory must be ${problem}`);
}

/** Checked before the socket: a file in a directory that others can write to may be another one a moment later. */
async function assertTrustedFolder(path: string, access: FileAccess): Promise<Stats> {
  const { uid } = access;
  const stats = await access.lstat(dirname(path));
  if (!stats.isDirectory()) throw toUnsafe(path, "a directory, and no link to one, and is none");
  if (uid === undefined) return stats;
  if (!isTrusted(stats.uid, uid)) {
    throw toUnsafe(path, `of user ${uid} or ${superuser}, and is of user ${stats.uid}`);
  }
  if ((stats.mode & (groupWrites | othersWrite)) === 0) {
    await assertSafeAncestors(dirname(path), `Connecting to "${path}"`, access);
    return stats;
  }
  const isSticky = (stats.mode & sticky) !== 0;
  const advice = isSticky ? ownFolderAdvice(dirname(path)) : `run: chmod go-w "${dirname(path)}"`;
  throw toUnsafe(path, `writable by its owner alone, and has mode ${toOctal(stats)}; ${advice}`);
}

/** Refuses a socket that other users can connect to: they could have changed what its owner does. */
function assertPrivate(path: string, socket: Stats, folder: Stats): void {
  if ((socket.mode & (groupWrites | othersWrite)) === 0 || (folder.mode & 0o011) === 0) return;
  throw new SurfaceError(
    "UNSAFE_DIRECTORY",
    `Connecting to "${path}": other users can connect to it, by mode ${toOctal(socket)}; run: chmod 600 "${path}"`,
  );
}

/**
 * Refuses a socket that does not belong to this user or root, that other users can connect to, or that they could replace
 * between this check and the connection, by its directory or one above it. A sticky directory is refused too: when the
 * socket is gone for a moment, any user may put one there.
 *
 * @throws SurfaceError `UNSAFE_DIRECTORY`, also for the mode of the socket; `NOT_A_SOCKET`, also for a link to one;
 * `WRONG_OWNER`; the system's error for an absent socket.
 */
export async function assertTrustedSocket(path: string, access: FileAccess): Promise<void> {
  const folder = await assertTrustedFolder(path, access);
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

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

/** Returns whether a user may control this process: its own user, and root. */
function isTrusted(owner: number, uid: number): boolean {
  return owner === uid || owner === superuser;
}

/** Returns whether the directory protects the entries of trusted users from other users. */
function isSafe({ mode, gid }: Stats, uid: number): boolean {
  if ((mode & sticky) !== 0) return true;
  // Some systems give each user a group of the same number, which may write to new directories. Only that user is in it.
  return (mode & othersWrite) === 0 && ((mode & groupWrites) === 0 || gid === uid || gid === superuser);
}

function ownFolderAdvice(folder: string): string {
  return `use a directory of the application alone, for example "${join(folder, "my-app")}"`;
}

/** Returns the user id of root's files in a user namespace that does not map root, else `undefined`. All unmapped users share that id. */
async function readUnmappedRoot(access: FileAccess): Promise<number | undefined> {
  try {
    const map = await access.readText("/proc/self/uid_map");
    // A line has the first id inside, the first id outside, and their number.
    if (map.split("\n").some((line) => line.trim().split(/\s+/)[1] === "0")) return undefined;
    return Number(await access.readText("/proc/sys/kernel/overflowuid"));
  } catch {
    // The system has no such files.
    return undefined;
  }
}

/** A directory or symbolic link of a path, and the directory that it is in. */
interface Step {
  readonly at: string;
  readonly stats: Stats;
  readonly parent: Step | undefined;
}

/** Returns whether this user or root owns the entry. In a directory that others can write to, an unmapped owner may be any user. */
async function isOurs({ stats, parent }: Step, uid: number, access: FileAccess): Promise<boolean> {
  if (isTrusted(stats.uid, uid)) return true;
  const isOpen = parent !== undefined && (parent.stats.mode & (groupWrites | othersWrite)) !== 0;
  return !isOpen && stats.uid === (await readUnmappedRoot(access));
}

async function findProblem(step: Step, uid: number, access: FileAccess): Promise<string | undefined> {
  const { at, stats } = step;
  if (!(await isOurs(step, uid, access))) return `"${at}" on the way to it belongs to user ${stats.uid}`;
  // A link cannot be written to, and its directory was checked before.
  if (stats.isSymbolicLink() || isSafe(stats, uid)) return undefined;
  return `others can write to "${at}" on the way to it, by mode ${toOctal(stats)}`;
}

function namesOf(path: string): readonly string[] {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return isAbsolute(path) ? ["/", ...names] : names;
}

/** Resolves a path as the system does, from the root down: other users change nothing below a safe directory. */
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

/** Refuses a directory that others could replace, by itself or on the way to it. @throws `UNSAFE_DIRECTORY`, or the system's error. */
export async function assertSafeAncestors(folder: string, doing: string, access: FileAccess): Promise<void> {
  const { uid } = access;
  if (uid === undefined) return;
  // Not by resolve(): it drops `..` together with the link before it, which the system follows first.
  const path = isAbsolute(folder) ? folder : `${process.cwd()}/${folder}`;
  const problem = await findProblemOnWay(path, uid, access);
  if (problem === undefined) return;
  throw new SurfaceError("UNSAFE_DIRECTORY", `${doing}: ${problem}; ${ownFolderAdvice("~/.cache")}`);
}

/** Most segments of a directory that other applications may need, such as `/tmp`, `/var/run` or a home. */
const sharedDepth = 2;

/** Returns whether a change of the mode of a directory could break other applications, or shut others out of a project. */
async function isShared(folder: string, { mode }: Stats, access: FileAccess): Promise<boolean> {
  if ((mode & sticky) !== 0 || `${process.cwd()}${sep}`.startsWith(`${folder}${sep}`)) return true;
  if (folder.split(sep).filter(Boolean).length > sharedDepth) return false;
  const parent = await access.lstat(dirname(folder));
  return (parent.mode & sticky) === 0;
}

function toNotPrivate(folder: string, problem: string): SurfaceError {
  return new SurfaceError(
    "UNSAFE_DIRECTORY",
    `Cannot listen in "${folder}": it must be a private directory of this user, ${problem}`,
  );
}

/** Level by level: `mkdir()` with `recursive` never ends below a parent that takes no directory, as in `/proc`. */
async function makeFolder(folder: string, access: FileAccess): Promise<void> {
  if ((await unlessAbsent(access.lstat(folder))) !== undefined) return;
  await makeFolder(dirname(folder), access);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (cause) {
    // Another starter was faster. Its directory is checked too.
    if (codeOf(cause) !== "EEXIST") throw cause;
  }
}

/** Creates the directory of a socket, for its owner alone. @throws SurfaceError `UNSAFE_DIRECTORY` if others can access or replace it. */
export async function assurePrivateFolder(folder: string, access: FileAccess): Promise<void> {
  await makeFolder(folder, access);
  const stats = await access.lstat(folder);
  if (!stats.isDirectory()) throw toNotPrivate(folder, "and is not a directory");
  if (access.uid !== undefined && stats.uid !== access.uid) {
    const owners = `and belongs to user ${stats.uid}; this process is user ${access.uid}`;
    throw toNotPrivate(folder, `${owners}; ${ownFolderAdvice(folder)}`);
  }
  if (access.uid === undefined || (stats.mode & 0o077) === 0) {
    return assertSafeAncestors(folder, `Cannot listen in "${folder}"`, access);
  }
  const advice = (await isShared(folder, stats, access)) ? ownFolderAdvice(folder) : `run: chmod 700 "${folder}"`;
  throw toNotPrivate(folder, `and has mode ${toOctal(stats, 0o777)}; ${advice}`);
}

function toUnsafe(path: string, problem: string): SurfaceError {
  return new SurfaceError("UNSAFE_DIRECTORY", `Cannot connect to "${path}": its directory must be ${problem}`);
}

/** Checked before the socket: in a directory that others can write to, the socket may be replaced after its check. */
async function assertTrustedFolder(path: string, access: FileAccess): Promise<Stats> {
  const { uid } = access;
  const stats = await access.lstat(dirname(path));
  if (!stats.isDirectory()) throw toUnsafe(path, "a directory, and not a link, and is something else");
  if (uid === undefined) return stats;
  if (!isTrusted(stats.uid, uid)) {
    throw toUnsafe(path, `of user ${uid} or ${superuser}, and is of user ${stats.uid}`);
  }
  if ((stats.mode & (groupWrites | othersWrite)) === 0) {
    await assertSafeAncestors(dirname(path), `Cannot connect to "${path}"`, access);
    return stats;
  }
  const isSticky = (stats.mode & sticky) !== 0;
  const advice = isSticky ? ownFolderAdvice(dirname(path)) : `run: chmod go-w "${dirname(path)}"`;
  throw toUnsafe(path, `writable by its owner alone, and has mode ${toOctal(stats)}; ${advice}`);
}

/** Refuses a socket that other users can connect to: they could change the state of its owner. */
function assertPrivate(path: string, socket: Stats, folder: Stats): void {
  if ((socket.mode & (groupWrites | othersWrite)) === 0 || (folder.mode & 0o011) === 0) return;
  throw new SurfaceError(
    "UNSAFE_DIRECTORY",
    `Cannot connect to "${path}": other users can connect to it, by mode ${toOctal(socket)}; run: chmod 600 "${path}"`,
  );
}

/**
 * Refuses a socket of another user than this or root, and one that other users can connect to, or could replace before the connection, also
 * by a sticky directory.
 * @throws SurfaceError `UNSAFE_DIRECTORY`, `NOT_A_SOCKET` also for a link to one, `WRONG_OWNER`; the system's error for an absent socket.
 */
export async function assertTrustedSocket(path: string, access: FileAccess): Promise<void> {
  const folder = await assertTrustedFolder(path, access);
  const { uid } = access;
  const stats = await access.lstat(path);
  if (!stats.isSocket()) {
    throw new SurfaceError("NOT_A_SOCKET", `Cannot connect to "${path}": it is not a socket`);
  }
  if (uid === undefined) return;
  if (isTrusted(stats.uid, uid)) return assertPrivate(path, stats, folder);
  throw new SurfaceError(
    "WRONG_OWNER",
    `Cannot connect to "${path}": the socket must be of user ${uid} or ${superuser}, and is of user ${stats.uid}`,
  );
}

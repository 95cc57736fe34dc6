import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../../errors.ts";
import { refused } from "../cli-errors.ts";
import { unlessMissing } from "../files.ts";

/** Milliseconds to wait for the lock of another process. */
const waitMs = 3000;

/** Milliseconds between two attempts to take the lock. */
const retryMs = 20;

/** Milliseconds after which a lock is stale: no change takes that long. */
const staleMs = 10_000;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

/**
 * Returns whether the process that made a lock has ended. The lock of another machine only gets old.
 *
 * @throws Refusal `REFUSED` for a lock that is not a regular file: reading a pipe would wait for its writer.
 */
async function isStale(lock: string): Promise<boolean> {
  const made = await unlessMissing(lstat(lock));
  if (made !== undefined && !made.isFile()) throw refused(`Cannot lock with "${lock}": it must be a file; remove it`);
  const text = await unlessMissing(readFile(lock, "utf8"));
  if (made === undefined || text === undefined) return false;
  if (Date.now() - made.mtimeMs > staleMs) return true;
  const [host, pid] = text.split(" ");
  return host === hostname() && pid !== undefined && !isRunning(Number(pid));
}

/** Creates a file, and its folder. Returns `false` if the file exists. */
async function createExclusive(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (codeOf(error) !== "ENOENT") throw error;
    await mkdir(dirname(path), { recursive: true });
    return createExclusive(path, text);
  }
}

/** Removes a stale lock. Only one process does at a time, so that no process removes a new lock of another one. */
async function removeStaleLock(lock: string, owner: string): Promise<void> {
  const turn = `${lock}.turn`;
  if (!(await createExclusive(turn, owner))) {
    // The next attempt proceeds without the stale `.turn` file.
    if (await isStale(turn)) await rm(turn, { force: true });
    return;
  }
  try {
    if (await isStale(lock)) await rm(lock, { force: true });
  } finally {
    await rm(turn, { force: true });
  }
}

/**
 * Runs work on a file while other processes that use this function wait. Removes stale locks.
 *
 * @throws Refusal `REFUSED` if another process still has the lock after {@link waitMs}, and the errors of the work.
 */
async function withConfigLock<TValue>(target: string, work: () => Promise<TValue>): Promise<TValue> {
  const lock = `${target}.lock`;
  const owner = `${hostname()} ${process.pid} ${randomBytes(6).toString("hex")}`;
  const until = Date.now() + waitMs;
  while (!(await createExclusive(lock, owner))) {
    if (await isStale(lock)) await removeStaleLock(lock, owner);
    else if (Date.now() > until) {
      throw refused(`Cannot change "${target}": another process holds "${lock}"; try again`);
    } else await sleep(retryMs);
  }
  try {
    return await work();
  } finally {
    // A lock that became stale may belong to another process.
    if ((await unlessMissing(readFile(lock, "utf8"))) === owner) await rm(lock, { force: true });
  }
}

/** A configuration file as it was read. */
export interface ConfigFile {
  /** The path that the client uses. */
  readonly path: string;
  /** The real path, after symbolic links. */
  readonly target: string;
  /** The text without {@link bom}; `undefined` if the file does not exist. */
  readonly text: string | undefined;
  /** The byte order mark, or an empty text. */
  readonly bom: string;
  /** Permissions of the file; `undefined` for a new file with the permissions of the umask. */
  readonly mode: number | undefined;
}

/** The readers of a new file: its owner alone, since other entries may hold secrets; or all who can read the folder. */
export type Audience = "owner" | "folder";

const BOM = "\uFEFF";
function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused(`Cannot read "${path}": it is not UTF-8`);
  }
}

/**
 * Reads a file that may not exist.
 *
 * @throws Refusal `REFUSED` for a path that is not a regular file, for text that is not UTF-8, and for a broken link.
 */
export async function readConfigFile(path: string, audience: Audience = "owner"): Promise<ConfigFile> {
  const target = await unlessMissing(realpath(path));
  if (target === undefined) {
    if ((await unlessMissing(lstat(path))) !== undefined)
      throw refused(`Cannot read "${path}": the link leads nowhere`);
    return { path, target: path, text: undefined, bom: "", mode: audience === "owner" ? 0o600 : undefined };
  }
  // Reading a pipe would wait for its writer.
  if (!(await stat(target)).isFile()) throw refused(`Cannot read "${path}": it is not a regular file`);
  const text = decode(await readFile(target), path);
  const bom = text.startsWith(BOM) ? BOM : "";
  return { path, target, text: text.slice(bom.length), bom, mode: (await stat(target)).mode & 0o777 };
}

async function writeTemporary(path: string, text: string, mode: number | undefined): Promise<string> {
  const beside = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = await open(beside, "wx", mode ?? 0o666);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // open() applies the umask to the mode.
    if (mode !== undefined) await chmod(beside, mode);
    return beside;
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/**
 * Replaces the text of a file atomically, and creates missing folders.
 *
 * @throws Refusal `REFUSED` if the file has changed since it was read; it is left as it is then.
 */
export async function replaceConfigFile(file: ConfigFile, text: string): Promise<void> {
  await mkdir(dirname(file.target), { recursive: true });
  const beside = await writeTemporary(file.target, file.bom + text, file.mode);
  try {
    const now = await unlessMissing(readFile(file.target, "utf8"));
    if (now !== (file.text === undefined ? undefined : file.bom + file.text)) {
      throw refused(`Cannot write "${file.path}": another process has changed it meanwhile; try again`);
    }
    await rename(beside, file.target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/**
 * Reads, changes and replaces a file under a lock.
 *
 * @throws Refusal `REFUSED` as {@link readConfigFile} and {@link replaceConfigFile} do, or if another process holds the lock for too
 * long. Errors of `change`.
 */
export async function changeConfigFile(
  path: string,
  change: (text: string) => string,
  audience: Audience = "owner",
): Promise<ConfigFile> {
  const target = (await unlessMissing(realpath(path))) ?? path;
  return withConfigLock(target, async () => {
    const file = await readConfigFile(path, audience);
    await replaceConfigFile(file, change(file.text ?? ""));
    return file;
  });
}

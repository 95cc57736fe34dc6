import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { refused } from "./cli-errors.ts";
import { codeOf, unlessMissing } from "./files.ts";

/** Milliseconds until waiting for another process is given up. */
const waitMs = 3000;

/** Milliseconds between two looks at the lock. */
const lookMs = 20;

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
 * @throws Refusal `REFUSED` for a lock that is no file: reading a pipe would wait for its writer, and a link leads elsewhere.
 */
async function isStale(lock: string): Promise<boolean> {
  const made = await unlessMissing(lstat(lock));
  if (made !== undefined && !made.isFile()) throw refused(`Cannot lock by "${lock}": it must be a file; remove it`);
  const text = await unlessMissing(readFile(lock, "utf8"));
  if (made === undefined || text === undefined) return false;
  if (Date.now() - made.mtimeMs > staleMs) return true;
  const [host, pid] = text.split(" ");
  return host === hostname() && pid !== undefined && !isRunning(Number(pid));
}

/** Creates a file, and its folder. Returns `false` if the file exists. */
async function isMade(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (codeOf(error) !== "ENOENT") throw error;
    await mkdir(dirname(path), { recursive: true });
    return isMade(path, text);
  }
}

/** Removes a stale lock. One process at a time, so that none removes the lock that another has just made. */
async function takeAway(lock: string, owner: string): Promise<void> {
  const turn = `${lock}.turn`;
  if (!(await isMade(turn, owner))) {
    // A stale turn is removed, and the next look finds none.
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
  while (!(await isMade(lock, owner))) {
    if (await isStale(lock)) await takeAway(lock, owner);
    else if (Date.now() > until) {
      throw refused(`Changing "${target}": somebody else is at it, and has left "${lock}": try again`);
    } else await sleep(lookMs);
  }
  try {
    return await work();
  } finally {
    // A lock that became stale may belong to another process.
    if ((await unlessMissing(readFile(lock, "utf8"))) === owner) await rm(lock, { force: true });
  }
}

/** The text of a file, and where it really is. */
export interface ConfigFile {
  /** As the client names it. */
  readonly path: string;
  /** What {@link path} leads to, where it is a link. */
  readonly target: string;
  /** Without {@link bom}; `undefined` where there is no file. */
  readonly text: string | undefined;
  /** What the file begins with to say how it is encoded. */
  readonly bom: string;
  /** Its permissions; `undefined` for a new one that has those which its owner gives to files. */
  readonly mode: number | undefined;
}

/** Whom a new file is for: its owner alone, since what others add to it may be secret, or whoever has the folder. */
export type Audience = "owner" | "folder";

const BOM = "\uFEFF";
function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused(`Reading "${path}": it must be UTF-8, and is not`);
  }
}

/**
 * Reads a file that may not be there.
 *
 * @throws Refusal `REFUSED` for one that is no file or no text, and for a link that leads nowhere.
 */
export async function readConfigFile(path: string, audience: Audience = "owner"): Promise<ConfigFile> {
  const target = await unlessMissing(realpath(path));
  if (target === undefined) {
    if ((await unlessMissing(lstat(path))) !== undefined) throw refused(`Reading "${path}": the link leads nowhere`);
    return { path, target: path, text: undefined, bom: "", mode: audience === "owner" ? 0o600 : undefined };
  }
  // Reading a pipe would wait for whoever writes to it.
  if (!(await stat(target)).isFile()) throw refused(`Reading "${path}": it must be a file, and is none`);
  const text = decode(await readFile(target), path);
  const bom = text.startsWith(BOM) ? BOM : "";
  return { path, target, text: text.slice(bom.length), bom, mode: (await stat(target)).mode & 0o777 };
}

async function writeBeside(path: string, text: string, mode: number | undefined): Promise<string> {
  const beside = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = await open(beside, "wx", mode ?? 0o666);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // What open() is told goes through the umask.
    if (mode !== undefined) await chmod(beside, mode);
    return beside;
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/**
 * Puts another text in the place of the whole file: whoever reads it sees the old one or the new one. Makes the folders that
 * are missing.
 *
 * @throws Refusal `REFUSED`, and nothing is written, where somebody has changed the file since it was read.
 */
export async function replaceConfigFile(file: ConfigFile, text: string): Promise<void> {
  await mkdir(dirname(file.target), { recursive: true });
  const beside = await writeBeside(file.target, file.bom + text, file.mode);
  try {
    const now = await unlessMissing(readFile(file.target, "utf8"));
    if (now !== (file.text === undefined ? undefined : file.bom + file.text)) {
      throw refused(`Writing "${file.path}": somebody else has changed it meanwhile: try again`);
    }
    await rename(beside, file.target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/**
 * Reads a file, changes its text and puts that in its place, while nobody else does who asks here too.
 *
 * @throws Refusal `REFUSED` as both do, and where somebody else is at it for too long; and what `change` throws.
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

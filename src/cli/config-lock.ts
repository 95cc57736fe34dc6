import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { refused } from "./cli-errors.ts";
import { codeOf, unlessMissing } from "./file-errors.ts";

/** How long somebody else may take before it is refused to wait for them, in milliseconds. */
const waitMs = 3000;

/** How often it is looked whether they have finished, in milliseconds. */
const lookMs = 20;

/** How old a lock may be, in milliseconds: nobody takes that long, so whoever made it is gone. */
const staleMs = 10_000;

/** Whether there is a process of this number on this machine. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

/**
 * Whether whoever made a lock is gone. What another machine says of its processes cannot be asked here: it gets old.
 *
 * @throws Refusal `REFUSED` for what is no file: reading a pipe would wait for whoever writes to it, and a link is not ours.
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

/** Makes a file that nobody else has made. The folder that it is to be in may be missing. */
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

/** Takes a lock away whose maker is gone: one at a time, so that nobody takes away that of whoever came in between. */
async function takeAway(lock: string, owner: string): Promise<void> {
  const turn = `${lock}.turn`;
  if (!(await isMade(turn, owner))) {
    // Whoever was at it is gone as well; the next look finds none of theirs.
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
 * Does something to a file while nobody else does who asks here too. A lock that somebody left behind is taken away.
 *
 * @throws Refusal `REFUSED` where somebody else is still at it after a few seconds, and what the work throws.
 */
export async function withConfigLock<TValue>(target: string, work: () => Promise<TValue>): Promise<TValue> {
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
    // One that got too old is somebody else's by now.
    if ((await unlessMissing(readFile(lock, "utf8"))) === owner) await rm(lock, { force: true });
  }
}

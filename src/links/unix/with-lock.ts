import { lstat, open, unlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../system-error.ts";
import { unlessAbsent } from "./file-access.ts";

/** A lock that is older belongs to a process that was killed: nobody holds one for so long. */
const abandonedMs = 10_000;
const retryMs = 20;

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, "wx", 0o600)).close();
    return true;
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false;
    throw cause;
  }
}

/** Removes the lock of a process that was killed. */
async function forgetAbandoned(lock: string): Promise<void> {
  const stats = await unlessAbsent(lstat(lock));
  if (stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs) await unlessAbsent(unlink(lock));
}

/**
 * Runs `act` while no other process does that for the same path. The lock is a file beside it, which `act` outlives only
 * where its process is killed.
 */
export async function withLock<TValue>(path: string, act: () => Promise<TValue>): Promise<TValue> {
  const lock = `${path}.lock`;
  while (!(await take(lock))) {
    await forgetAbandoned(lock);
    await sleep(retryMs);
  }
  try {
    return await act();
  } finally {
    await unlessAbsent(unlink(lock));
  }
}

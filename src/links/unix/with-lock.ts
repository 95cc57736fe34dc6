import { link, lstat, unlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../system-error.ts";
import { unlessAbsent } from "./file-access.ts";
import { isAnswering } from "./is-answering.ts";
import { isSocketPath } from "./socket-path.ts";

/** A lock that is older belongs to a process that is stuck: nobody else holds one for so long. */
const abandonedMs = 10_000;
const retryMs = 20;

/** A path, and a socket beside it on which whoever wants the path listens. */
export interface Claim {
  readonly path: string;
  readonly from: string;
}

async function take(lock: string, from: string): Promise<boolean> {
  try {
    await link(from, lock);
    return true;
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false;
    throw cause;
  }
}

/** Removes the lock of a process that was killed, since nobody answers on it, or of one that is stuck. */
async function forgetAbandoned(lock: string): Promise<void> {
  const stats = await unlessAbsent(lstat(lock));
  if (stats === undefined) return;
  const isOld = Date.now() - stats.mtimeMs > abandonedMs;
  // Beside the longest of paths there is no room for a name that can be asked: there, age has to do.
  if (!isOld && (!isSocketPath(lock) || (await isAnswering(lock)))) return;
  // Not that of another one who has removed it meanwhile, and taken it.
  const now = await unlessAbsent(lstat(lock));
  if (now?.ino === stats.ino) await unlessAbsent(unlink(lock));
}

/**
 * Runs `act` while no other process does that for the same path. The lock is the socket of whoever has it, under a name
 * beside the path: it outlives `act` only where its process is killed, and then nobody answers on it. A number of a process
 * would say less: another one may have it by then, and one in another container has numbers of its own.
 */
export async function withLock<TValue>({ path, from }: Claim, act: () => Promise<TValue>): Promise<TValue> {
  const lock = `${path}.lock`;
  while (!(await take(lock, from))) {
    await forgetAbandoned(lock);
    await sleep(retryMs);
  }
  try {
    return await act();
  } finally {
    await unlessAbsent(unlink(lock));
  }
}

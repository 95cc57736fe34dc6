import { readFile, readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 20;
/** How long a group may take to vanish after SIGKILL; only a process stuck in the kernel takes longer. */
const KILL_WAIT_MS = 1000;

/** Sends a signal to every process of a group. `false` when there is none that it could reach. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/**
 * Ends every process of a group: SIGTERM, and SIGKILL for what is left after `graceMs`. Resolves when they are gone,
 * at once when there are none; never rejects. A process that has left the group (`setsid`) is out of reach.
 */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  if (!(await isGroupAlive(group)) || !signalGroup(group, "SIGTERM")) return;
  if (await isGroupGoneWithin(group, graceMs)) return;
  signalGroup(group, "SIGKILL");
  await isGroupGoneWithin(group, KILL_WAIT_MS);
}

async function isGroupGoneWithin(group: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (await isGroupAlive(group)) {
    if (performance.now() >= deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/**
 * Whether a group has a process that still runs. A signal alone cannot tell, because it also reaches the dead whom
 * nobody has waited for, and in a container without an init process those stay for good; Linux lists them as such.
 */
async function isGroupAlive(group: number): Promise<boolean> {
  if (!signalGroup(group, 0)) return false;
  if (process.platform !== "linux") return true;
  const entries = await readdir("/proc").catch(() => undefined);
  if (entries === undefined) return true;
  const members = await Promise.all(entries.filter((name) => /^\d+$/.test(name)).map(readStat));
  return members.some((stat) => stat?.group === group && stat.state !== "Z" && stat.state !== "X");
}

interface ProcessStat {
  readonly state: string;
  readonly group: number;
}

/** Reads `/proc/PID/stat`: `pid (name) state parent group …`, where the name may hold anything. See proc(5). */
async function readStat(pid: string): Promise<ProcessStat | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === undefined || group === undefined ? undefined : { state, group: Number(group) };
}

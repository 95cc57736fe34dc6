import { readFileSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 20;
/** How long processes may take to vanish after SIGKILL; only one stuck in the kernel takes longer. */
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
 * Ends what a group's leader has left running besides itself: SIGTERM, and SIGKILL to the whole group for what is left
 * after `graceMs`. Resolves when they are gone, at once when there are none; never rejects. A process that has left the
 * group (`setsid`) is out of reach. Only Linux lists a group's members: elsewhere nothing is done, and what is left goes
 * with the leader's lifeline.
 */
export async function endLeftovers(leader: number, graceMs: number): Promise<void> {
  const isLeft = async (): Promise<boolean> => (await membersOf(leader)).some((pid) => pid !== leader);
  if (!(await isLeft())) return;
  signalGroup(leader, "SIGTERM");
  if (await isOverWithin(isLeft, graceMs)) return;
  signalGroup(leader, "SIGKILL");
  await isOverWithin(isLeft, KILL_WAIT_MS);
}

/**
 * When a process was born, in a form that only compares: together with its id it names one process for good, where an id
 * alone is given to another one later. `undefined` where there is no such process, or no such knowledge (no `/proc`).
 */
export function birthOf(pid: number): string | undefined {
  try {
    return toStat(readFileSync(`/proc/${pid}/stat`, "utf8"))?.born;
  } catch {
    return undefined;
  }
}

/**
 * Waits until the group that a process led is gone, and kills it when it does not go by itself within `patienceMs`. A
 * leader born at another time is somebody else, and left alone. Resolves with whether it had to be killed.
 */
export async function endOrphans(leader: number, born: string | undefined, patienceMs: number): Promise<boolean> {
  const isAlive = async (): Promise<boolean> =>
    birthOf(leader) === born && (await membersOf(leader)).some((pid) => pid === leader);
  if (born === undefined || (await isOverWithin(isAlive, patienceMs))) return false;
  signalGroup(leader, "SIGKILL");
  await isOverWithin(isAlive, KILL_WAIT_MS);
  return true;
}

async function isOverWithin(isGoingOn: () => Promise<boolean>, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (await isGoingOn()) {
    if (performance.now() >= deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/**
 * The processes of a group that still run. A signal alone cannot tell, because it also reaches the dead whom nobody has
 * waited for, and in a container without an init process those stay for good; Linux lists them as such.
 */
async function membersOf(group: number): Promise<readonly number[]> {
  if (process.platform !== "linux" || !signalGroup(group, 0)) return [];
  const entries = await readdir("/proc").catch((): string[] => []);
  const stats = await Promise.all(entries.filter((name) => /^\d+$/.test(name)).map(readStat));
  return stats
    .filter((stat) => stat?.group === group && stat.state !== "Z" && stat.state !== "X")
    .flatMap((stat) => (stat ? [stat.pid] : []));
}

interface ProcessStat {
  readonly pid: number;
  readonly state: string;
  readonly group: number;
  readonly born: string;
}

async function readStat(pid: string): Promise<ProcessStat | undefined> {
  return toStat(await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""));
}

/** Where a process stands among the fields after its name: its group, and its time of birth in ticks since the boot. */
const GROUP_FIELD = 2;
const BORN_FIELD = 19;

/** Reads `/proc/PID/stat`: `pid (name) state parent group …`, where the name may hold anything. See proc(5). */
function toStat(text: string): ProcessStat | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, group, born] = [fields[0], fields[GROUP_FIELD], fields[BORN_FIELD]];
  if (state === undefined || group === undefined || born === undefined) return undefined;
  return { pid: Number.parseInt(text, 10), state, group: Number(group), born };
}

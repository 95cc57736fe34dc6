import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";

/** Makes a state directory that only its owner may enter, where there is none. Returns its path without links. */
export async function makeStateDir(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  return realpath(dir);
}

/** Where a coordinator listens. */
export function socketIn(dir: string): string {
  return join(dir, "pipeline.sock");
}

/** Where whoever owns the directory shows that it does. */
export function ownerIn(dir: string): string {
  return join(dir, "owner.sock");
}

/** Where it writes down what it does. */
export function journalIn(dir: string): string {
  return join(dir, "journal.jsonl");
}

/** Where its scratch copy is. */
export function scratchIn(dir: string): string {
  return join(dir, "scratch");
}

/** Where it keeps the logs of its runs, a folder a run. */
export function runsIn(dir: string): string {
  return join(dir, "runs");
}

/** Where it says why it could not start, or what went wrong with it. */
export function coordinatorLogIn(dir: string): string {
  return join(dir, "coordinator.log");
}

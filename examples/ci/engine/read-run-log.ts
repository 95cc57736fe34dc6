import { constants } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";

import { LOG_BYTES, newestOf } from "./log-tail.ts";
import { NODE_ID } from "./node-id.ts";
import { CUT_MARK, runsAmong, toFileName } from "./run-files.ts";

/** The newest part of a log as its file has it. */
export interface RunLog {
  readonly run: number;
  readonly node: string;
  /** At most {@link LOG_BYTES} as UTF-8. */
  readonly text: string;
  /** Whether the beginning has been cut off. */
  readonly truncated: boolean;
}

// Not to be kept waiting by what is no file, such as a pipe.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads the newest part of a node's log in the newest run of a folder, whether or not somebody is writing it. `undefined`
 * where there is none, and for everything that is not the id of a node: that never becomes a path. Links are not followed.
 */
export async function readRunLog(dir: string, node: string): Promise<RunLog | undefined> {
  if (!NODE_ID.test(node)) return undefined;
  const [run] = runsAmong(await readdir(dir).catch(() => [])).toSorted((a, b) => b - a);
  if (run === undefined) return undefined;
  const folder = join(dir, String(run));
  const path = join(folder, toFileName(node));
  if (!(await isRealFolder(dir, folder))) return undefined;
  const file = await open(path, FLAGS).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const tail = await readTail(file);
    return tail && { run, node, ...tail };
  } finally {
    await file.close();
  }
}

/** Whether a folder is where its name says that it is. */
async function isRealFolder(dir: string, folder: string): Promise<boolean> {
  const about = await lstat(folder).catch(() => undefined);
  if (about?.isDirectory() !== true) return false;
  return join(await realpath(dir), folder.slice(dir.length)) === (await realpath(folder));
}

async function readTail(file: FileHandle): Promise<Pick<RunLog, "text" | "truncated"> | undefined> {
  const about = await file.stat();
  // A second name leads to it from elsewhere.
  if (!about.isFile() || about.nlink > 1) return undefined;
  const from = Math.max(0, about.size - LOG_BYTES - 1);
  const bytes = Buffer.alloc(about.size - from);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
  const text = newestOf(bytes.subarray(0, bytesRead), LOG_BYTES);
  // What is no UTF-8 has grown by being read.
  const kept = newestOf(Buffer.from(text), LOG_BYTES);
  return { text: kept, truncated: about.size > LOG_BYTES || kept !== text || kept.startsWith(CUT_MARK) };
}

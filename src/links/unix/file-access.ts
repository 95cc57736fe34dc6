import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { codeOf } from "../system-error.ts";

/** What is asked of files, and by whom: owners are compared, and a test has one user only. */
export interface FileAccess {
  /** The user who asks; `undefined` where there is no such thing. */
  readonly uid: number | undefined;
  /** As the function of `node:fs/promises`. */
  lstat(path: string): Promise<Stats>;
}

/** This process and its files. */
export const ownAccess: FileAccess = Object.freeze({ uid: process.getuid?.(), lstat });

/** What `ask` comes to, or `undefined` where there is no such file. */
export async function unlessAbsent<TValue>(ask: Promise<TValue>): Promise<TValue | undefined> {
  try {
    return await ask;
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

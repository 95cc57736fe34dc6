import type { Stats } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { codeOf } from "../system-error.ts";

/** Access to files by a user. A test replaces it, because owners are compared and a test has one user only. */
export interface FileAccess {
  /** The user id of this process; `undefined` where users have no ids. */
  readonly uid: number | undefined;
  /** As the function of `node:fs/promises`. */
  lstat(path: string): Promise<Stats>;
  /** Returns the text of a file of the system. */
  readText(path: string): Promise<string>;
}

/** This process and its files. */
export const ownAccess: FileAccess = Object.freeze({
  uid: process.getuid?.(),
  lstat,
  readText: (path: string) => readFile(path, "utf8"),
});

/** Returns the value of `ask`, or `undefined` where there is no such file. */
export async function unlessAbsent<TValue>(ask: Promise<TValue>): Promise<TValue | undefined> {
  try {
    return await ask;
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

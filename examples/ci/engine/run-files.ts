import { closeSync, constants, fstatSync, ftruncateSync, lstatSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { readSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

import { LOG_BYTES, newestOf } from "./log-tail.ts";

/** Keeps the logs of runs as files, which outlive who writes them. */
export interface RunFiles {
  /** Begins the logs of these nodes anew. Those of runs that are long past are removed. */
  begin(run: number, nodes: readonly string[]): void;
  /** Adds to a log. It has been written when this returns, as far as a sudden end of the process is concerned. */
  append(run: number, node: string, text: string): void;
}

/** Keeps nothing. */
export const NO_FILES: RunFiles = Object.freeze({ begin: () => {}, append: () => {} });

/** What the first line of a file says whose beginning was cut off. */
export const CUT_MARK = "[ci] the beginning of this log was cut off\n";

const MOST_RUNS = 10;
/** A file that has grown beyond this is cut to its newest part: what a command writes has no bound by itself. */
const MOST_BYTES = 16 * LOG_BYTES;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

/** The name of a node's file in the folder of a run. */
export function toFileName(node: string): string {
  return `${node}.log`;
}

/** The numbers of the runs whose folders are among these names. */
export function runsAmong(names: readonly string[]): readonly number[] {
  return names.filter((name) => /^[1-9]\d{0,9}$/.test(name)).map(Number);
}

/**
 * Opens the logs of runs in a folder, which is made with the first run. What cannot be written is left out, since a run is
 * worth more than its log.
 */
export function openRunFiles(dir: string): RunFiles {
  const pathOf = (run: number, node: string): string => join(dir, String(run), toFileName(node));
  return {
    begin: (run, nodes) =>
      unlessImpossible(() => {
        mkdirSync(join(dir, String(run)), { recursive: true, mode: 0o700 });
        prune(dir, run);
        for (const node of nodes) empty(pathOf(run, node));
      }),
    append: (run, node, text) =>
      unlessImpossible(() => {
        const path = pathOf(run, node);
        if (writeTo(path, text, O_WRONLY | O_CREAT | O_APPEND) > MOST_BYTES) cut(path);
      }),
  };
}

/**
 * Uses a file that is in the folder of its run and nowhere else; `undefined` for every other, which is left as it is: nothing
 * is written through a link that somebody has put there, a second name leads to what is kept elsewhere, and a pipe would
 * keep who opens it waiting.
 */
function withOwn<T>(path: string, flags: number, use: (file: number) => T): T | undefined {
  if (!lstatSync(dirname(path)).isDirectory()) return undefined;
  const file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const about = fstatSync(file);
    return about.isFile() && about.nlink === 1 ? use(file) : undefined;
  } finally {
    closeSync(file);
  }
}

/** Not by a flag of its opening, which would empty it before it is known whose it is. */
function empty(path: string): void {
  withOwn(path, O_WRONLY | O_CREAT, (file) => ftruncateSync(file));
}

/** Returns the size of the file. */
function writeTo(path: string, text: string, flags: number): number {
  const written = withOwn(path, flags, (file) => {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from);
    return fstatSync(file).size;
  });
  return written ?? 0;
}

/** By rename, so that a reader never sees half of it. */
function cut(path: string): void {
  const kept = readNewest(path);
  const next = `${path}.new`;
  rmSync(next, { force: true });
  writeTo(next, CUT_MARK + kept, O_WRONLY | O_CREAT | O_EXCL);
  renameSync(next, path);
}

function readNewest(path: string): string {
  const newest = withOwn(path, O_RDWR, (file) => {
    const { size } = fstatSync(file);
    const from = Math.max(0, size - LOG_BYTES - 1);
    const bytes = Buffer.alloc(size - from);
    return newestOf(bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from)), LOG_BYTES);
  });
  return newest ?? "";
}

/** Removes the runs of long ago, and those that a state of which nothing else is left had numbered higher. */
function prune(dir: string, run: number): void {
  for (const past of runsAmong(readdirSync(dir))) {
    if (past > run || past <= run - MOST_RUNS) rmSync(join(dir, String(past)), { recursive: true, force: true });
  }
}

function unlessImpossible(write: () => void): void {
  try {
    write();
  } catch {
    // No room, or no right to write: who reads this log finds less of it, or none.
  }
}

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { codeOf, SurfaceError } from "../errors.ts";
import { hashLine, maxLineBytes, mayBeLine, parseLine, type ChainEnd } from "./chain.ts";

const newline = 10;

/** Holds a whole line, and incomplete ones after it. */
const tailBytes = 3 * maxLineBytes;

/** The end of a file. */
export interface Tail {
  /** The last whole line; `undefined` without one. */
  readonly end: ChainEnd | undefined;
  /** Whether the last line is the record of an orderly close. */
  readonly isClosed: boolean;
  readonly hasNewline: boolean;
}

function refuse(path: string, problem: string, cause?: unknown): SurfaceError {
  const message = `Cannot open the audit log "${path}": ${problem}`;
  return new SurfaceError("INVALID_OPTION", message, { cause });
}

/** Opens a plain file. @throws SurfaceError `INVALID_OPTION`. */
export function openPlain(path: string, flags: number): readonly [fd: number, stats: Stats] {
  // Windows has no O_NOFOLLOW.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw refuse(path, "it is a symbolic link; name a file");
  let fd: number;
  try {
    fd = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  } catch (cause) {
    throw refuse(path, `${codeOf(cause)}; name a file that this process may read and write`, cause);
  }
  const stats = fstatSync(fd);
  if (stats.isFile()) return [fd, stats];
  closeSync(fd);
  throw refuse(path, "it is not a file; name a file");
}

function readEnd(fd: number): Buffer {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(Math.min(size, tailBytes));
  const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
  return bytes.subarray(0, read);
}

/** Reads the end of a file; `undefined` if it is empty. @throws SurfaceError `INVALID_OPTION` if it is not an audit log. */
export function readTail(fd: number, path: string): Tail | undefined {
  const bytes = readEnd(fd);
  if (bytes.length === 0) return undefined;
  const hasNewline = bytes.at(-1) === newline;
  const last = hasNewline ? bytes.length - 1 : bytes.length;
  // Processes that were killed while they wrote have left incomplete lines at the end.
  for (let stop = last, start = 0; stop >= 0; stop = start - 1) {
    start = startOf(bytes, stop);
    const line = bytes.subarray(start, stop);
    if (!mayBeLine(line)) break;
    const record = parseLine(line);
    if (record !== undefined) {
      const end = { seq: record.seq, hash: hashLine(line) };
      return { end, isClosed: record.type === "closed" && stop === last, hasNewline };
    }
    if (start === 0) return { end: undefined, isClosed: false, hasNewline };
  }
  throw refuse(path, "it does not end as an audit log does; move it away, or name another file");
}

/** Returns the start of the line that stops at an index. */
function startOf(bytes: Buffer, stop: number): number {
  return stop === 0 ? 0 : bytes.lastIndexOf(newline, stop - 1) + 1;
}

/** Reads the end of a file by its path; `undefined` if it does not exist or is empty. */
export function readTailOf(path: string): Tail | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const [fd] = openPlain(path, constants.O_RDONLY);
  try {
    return readTail(fd, path);
  } finally {
    closeSync(fd);
  }
}

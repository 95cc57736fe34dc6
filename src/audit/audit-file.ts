import { closeSync, constants, existsSync, fstatSync, mkdirSync, renameSync, rmSync, write, writeSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { SurfaceError } from "../errors.ts";
import type { AuditTarget } from "./audit-writer.ts";
import { Chain } from "./chain.ts";
import { openPlain, readTail, readTailOf, type Tail } from "./read-tail.ts";

const writeLater = promisify(write);

/** Milliseconds that the end of the process waits for a write under way. */
const exitWaitMs = 500;
const pollMs = 5;

const nothing = Buffer.alloc(0);

/** Reads the end of a file that was opened. Closes a file that is not an audit log, so that no later write goes into it. */
function readOrClose(fd: number, path: string): Tail | undefined {
  try {
    return readTail(fd, path);
  } catch (cause) {
    closeSync(fd);
    throw cause;
  }
}

/** Bounds of the files of a log. */
export interface AuditFileOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** Returns the path of a rotated file; 1 is the newest. */
function rotatedPath(path: string, index: number): string {
  return `${path}.${index}`;
}

/**
 * A file that is appended to, and rotated by size. Opening, rotation and the write at exit are synchronous: the process cannot end in
 * the middle of one of them. Other writes are asynchronous, so that a slow disk does not block the process.
 */
export class AuditFile implements AuditTarget {
  readonly name: string;
  readonly chain: Chain = new Chain();
  readonly #options: AuditFileOptions;
  #fd: number | undefined;
  #inode: number | undefined;
  /** Bytes of the file, without those of a write under way. */
  #size = 0;
  #pending = 0;
  #note: Buffer = nothing;

  /** @throws SurfaceError `INVALID_OPTION` if the path cannot be opened, or is not an audit log. */
  constructor(options: AuditFileOptions) {
    this.#options = options;
    this.name = `the audit log "${options.path}"`;
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    this.#open();
  }

  async prepare(bytes: number): Promise<Buffer> {
    const { path, maxBytes } = this.#options;
    const found = await stat(path).catch(() => undefined);
    // Another program may have moved or changed the file.
    if (found?.ino !== this.#inode || found?.size !== this.#size) this.#open();
    if (this.#size > 0 && this.#size + bytes > maxBytes) this.#rotate();
    return this.#takeNote();
  }

  async write(bytes: Buffer): Promise<number> {
    const fd = this.#opened();
    this.#pending = bytes.length;
    try {
      const { bytesWritten } = await writeLater(fd, bytes);
      this.#size += bytesWritten;
      return bytesWritten;
    } finally {
      this.#pending = 0;
    }
  }

  writeAtExit(rest: Buffer, records: readonly string[]): void {
    const expected = this.#size + this.#pending;
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (let waitedMs = 0; fstatSync(this.#opened()).size < expected; waitedMs += pollMs) {
      if (waitedMs >= exitWaitMs) throw this.#unavailable("the disk is too slow");
      Atomics.wait(sleeper, 0, 0, pollMs);
    }
    if (fstatSync(this.#opened()).size !== expected) this.#open();
    let bytes = Buffer.concat([this.#takeNote(), rest, this.chain.link(records)]);
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#opened(), bytes));
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }

  #opened(): number {
    if (this.#fd === undefined) throw this.#unavailable("it is closed");
    return this.#fd;
  }

  #unavailable(problem: string): SurfaceError {
    return new SurfaceError("UNAVAILABLE", `Cannot write ${this.name}: ${problem}`);
  }

  #takeNote(): Buffer {
    const note = this.#note;
    this.#note = nothing;
    return note;
  }

  /** Opens the file, and continues the chain that is in it, or in the file that was rotated last. */
  #open(): void {
    const { path } = this.#options;
    const isFirst = this.#inode === undefined;
    const [fd, stats] = openPlain(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
    const own = readOrClose(fd, path);
    this.close();
    this.#fd = fd;
    this.#size = stats.size;
    this.#inode = stats.ino;
    const tail = own ?? (isFirst ? readTailOf(rotatedPath(path, 1)) : undefined);
    if (isFirst) this.#begin(tail, own, tail === undefined ? "new" : tail.isClosed ? "close" : "crash");
    else if (own !== undefined && own.end?.hash !== this.chain.end.hash) this.#begin(own, own, "change");
  }

  /** Continues a chain by a record that says what was before. Ends an incomplete line, so that it damages no other line. */
  #begin(tail: Tail | undefined, own: Tail | undefined, after: "new" | "close" | "crash" | "change"): void {
    if (tail?.end !== undefined) this.chain.end = tail.end;
    const record = { type: "opened", at: new Date().toISOString(), pid: process.pid, after };
    const newline = Buffer.from(own?.hasNewline === false ? "\n" : "");
    this.#note = Buffer.concat([newline, this.chain.link([JSON.stringify(record)])]);
  }

  #rotate(): void {
    const { path, maxFiles } = this.#options;
    rmSync(rotatedPath(path, maxFiles), { force: true });
    for (let index = maxFiles - 1; index > 0; index -= 1) {
      const from = rotatedPath(path, index);
      if (existsSync(from)) renameSync(from, rotatedPath(path, index + 1));
    }
    renameSync(path, rotatedPath(path, 1));
    this.#open();
  }
}

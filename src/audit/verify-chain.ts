import { createReadStream } from "node:fs";
import { Refusal } from "../errors.ts";
import { formatVersion, hashLine, mayBeLine, parseLine, type ChainedLine, type ChainEnd } from "./chain.ts";

/** Longer lines are no records. */
const maxLineLength = 1024 * 1024;

const notRecord = "this line is not a record";
const notWhole = "this line is incomplete: the process was killed while it wrote";

/** Something about a line of a file. */
export interface ChainFinding {
  readonly file: string;
  /** The first line is 1. */
  readonly line: number;
  readonly text: string;
}

/** The result of {@link verifyChain}. */
export interface ChainReport {
  readonly records: number;
  /** The number of the first record. Older ones may have been deleted with their file. */
  readonly first: number | undefined;
  readonly last: ChainEnd | undefined;
  /** Records that may be missing, though the chain is intact. */
  readonly notes: readonly ChainFinding[];
  /** The first line that does not continue the chain. */
  readonly broken: ChainFinding | undefined;
  /** Whether a line has the hash that was looked for. */
  readonly hasHash: boolean;
}

interface FileLine {
  readonly bytes: Buffer;
  readonly file: string;
  readonly line: number;
  /** Whether it ends in a newline. */
  readonly isWhole: boolean;
}

async function* readLines(file: string): AsyncIterable<FileLine> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 0;
  // A stream of bytes, without an encoding.
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      line += 1;
      yield { bytes: rest.subarray(start, end), file, line, isWhole: true };
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > maxLineLength) break;
  }
  if (rest.length > 0) yield { bytes: rest, file, line: line + 1, isWhole: false };
}

function findingAt({ file, line }: FileLine, text: string): ChainFinding {
  return { file, line, text };
}

/** Returns the problem with a record that does not continue the chain. */
function problemOf(record: ChainedLine, end: ChainEnd): string | undefined {
  const expected = end.seq + 1;
  if (record.seq > expected) return `records ${expected} to ${record.seq - 1} are missing`;
  if (record.seq < expected) return `record ${record.seq} is after record ${end.seq}`;
  return record.prev === end.hash ? undefined : `this line does not match the line before: one of them was changed`;
}

/** Returns a note about a record that says that others may be missing. */
function noteOf({ type, count, after }: ChainedLine): string | undefined {
  if (type === "lost") return `${String(count)} records were lost: the queue was full`;
  if (type !== "opened") return undefined;
  if (after === "crash") return "the process before was killed; its last records may be missing";
  return after === "change" ? "another program has changed the file" : undefined;
}

class Verification implements ChainReport {
  readonly notes: ChainFinding[] = [];
  records = 0;
  first: number | undefined;
  last: ChainEnd | undefined;
  broken: ChainFinding | undefined;
  hasHash = false;
  /** The first of the lines since the last record, which are not whole. */
  #torn: FileLine | undefined;
  readonly #wanted: string | undefined;

  constructor(wanted: string | undefined) {
    this.#wanted = wanted;
  }

  /** Checks the next line. */
  check(line: FileLine): void {
    const record = parseLine(line.bytes);
    if (record === undefined) {
      this.#torn ??= line;
      if (!mayBeLine(line.bytes)) this.broken = findingAt(line, notRecord);
      return;
    }
    if (this.#torn !== undefined && record.type !== "opened") this.broken = findingAt(this.#torn, notRecord);
    else if (this.#torn !== undefined) this.notes.push(findingAt(this.#torn, notWhole));
    this.#torn = undefined;
    this.broken ??= this.#checkRecord(record, line);
  }

  /** Checks the end of the last file. */
  finish(): void {
    if (this.#torn?.isWhole === true) this.broken = findingAt(this.#torn, notRecord);
    else if (this.#torn !== undefined) this.notes.push(findingAt(this.#torn, `${notWhole}, or writes now`));
  }

  #checkRecord(record: ChainedLine, line: FileLine): ChainFinding | undefined {
    if (record.v !== formatVersion)
      throw new Refusal("UNREADABLE", `Cannot verify "${line.file}": its format is ${record.v}, not ${formatVersion}`);
    const problem = this.last && problemOf(record, this.last);
    if (problem !== undefined) return findingAt(line, problem);
    const note = noteOf(record);
    if (note !== undefined) this.notes.push(findingAt(line, note));
    const hash = hashLine(line.bytes);
    this.records += 1;
    this.first ??= record.seq;
    this.last = { seq: record.seq, hash };
    this.hasHash ||= hash === this.#wanted;
    return undefined;
  }
}

/**
 * Checks the chain of a log over its files, up to the first break.
 *
 * @param files - the paths, the oldest first.
 * @param wanted - a hash to look for.
 * @throws Refusal `UNREADABLE` for another version of the format, and the errors of reading a file.
 */
export async function verifyChain(files: readonly string[], wanted?: string): Promise<ChainReport> {
  const verification = new Verification(wanted);
  for (const file of files) {
    for await (const line of readLines(file)) {
      verification.check(line);
      if (verification.broken !== undefined) return verification;
    }
  }
  verification.finish();
  return verification;
}

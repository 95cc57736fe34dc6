import crypto from "node:crypto";

/** The version of the format, in each line. */
export const formatVersion = 1;

/** The `prev` of the first line of a log. */
const noLine: string = "0".repeat(64);

/** The most bytes that {@link Chain.link} adds to a record, with the newline. */
export const chainBytes = 112;

/** The largest line. */
export const maxLineBytes: number = 64 * 1024;

/** The start of each line. */
const lineStart: string = `{"v":${formatVersion},"seq":`;

/** Returns the SHA-256 of a line without its newline, as hexadecimal digits. */
export function hashLine(line: string | Buffer): string {
  // Half the time, but Node has it since 20.12.
  if (crypto.hash !== undefined) return crypto.hash("sha256", line, "hex");
  return crypto.createHash("sha256").update(line).digest("hex");
}

/** The end of a chain: the number and the hash of its last line. */
export interface ChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** The hash chain of a log. Each line has the number of the line before plus one, and its hash. */
export class Chain {
  end: ChainEnd = { seq: 0, hash: noLine };

  /** Returns records as lines that continue the chain. @param records - JSON objects with at least one member. */
  link(records: readonly string[]): Buffer {
    let { seq, hash } = this.end;
    let lines = "";
    for (const record of records) {
      seq += 1;
      const line = `${lineStart}${seq},"prev":"${hash}",${record.slice(1)}`;
      hash = hashLine(line);
      lines += `${line}\n`;
    }
    this.end = { seq, hash };
    return Buffer.from(lines);
  }
}

/** A line that is a record of a log. */
export interface ChainedLine {
  readonly v: number;
  readonly seq: number;
  readonly prev: string;
  readonly type?: unknown;
  readonly [field: string]: unknown;
}

/** Reads a line; `undefined` if it is not a record. */
export function parseLine(line: Buffer): ChainedLine | undefined {
  try {
    const record: unknown = JSON.parse(line.toString());
    return isChained(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isChained(record: unknown): record is ChainedLine {
  if (typeof record !== "object" || record === null) return false;
  return "v" in record && "seq" in record && "prev" in record && Number.isSafeInteger(record.seq);
}

/** Returns whether bytes may be the start of a line, whose end was not written. */
export function mayBeLine(bytes: Buffer): boolean {
  return lineStart.startsWith(bytes.subarray(0, lineStart.length).toString("latin1"));
}

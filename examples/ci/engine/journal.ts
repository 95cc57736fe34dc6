import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";

import type { EngineRecord } from "./engine-record.ts";
import { CiError } from "./errors.ts";
import { JournalLine } from "./journal-line.ts";

/** What is written besides what an engine does. */
export type JournalNote = Extract<JournalLine, { readonly kind: "opened" | "repaired" }>;

/** A file of JSON lines that is only ever added to. Whoever opened it closes it. */
export interface Journal {
  /** What stood in it when it was opened, oldest first. */
  readonly lines: readonly JournalLine[];
  /**
   * Writes a line before it returns. The page cache has it then, which outlives the process, though not the machine: there
   * is no fsync, since a run that a power cut has ended may as well start over.
   */
  readonly write: (record: EngineRecord | JournalNote) => void;
  /** Writes nothing from now on. Idempotent. */
  close(): void;
}

/**
 * Opens a journal, and makes it where there is none. A last line without its end is what a writer was killed in the middle
 * of: nobody has acted on it, and it is cut off.
 *
 * @throws CiError `INVALID_JOURNAL` when a whole line is not one that a journal has, or the file cannot be opened.
 */
export function openJournal(path: string): Journal {
  const attempt = `open the journal "${path}"`;
  const file = openFile(path, attempt);
  try {
    const bytes = readFileSync(file);
    const whole = bytes.lastIndexOf("\n") + 1;
    const lines = parseLines(bytes.toString("utf8", 0, whole), attempt);
    if (whole < bytes.length) ftruncateSync(file, whole);
    return toJournal(file, lines);
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Reads a journal that somebody else may be writing. A last line without its end is left out. */
export function readJournal(path: string): readonly JournalLine[] {
  const bytes = readFileSync(path);
  return parseLines(bytes.toString("utf8", 0, bytes.lastIndexOf("\n") + 1), `read the journal "${path}"`);
}

function openFile(path: string, attempt: string): number {
  try {
    return openSync(path, "a+", 0o600);
  } catch (cause) {
    throw new CiError("INVALID_JOURNAL", `${attempt}: ${cause instanceof Error ? cause.message : "it failed"}`, {
      cause,
    });
  }
}

function toJournal(file: number, lines: readonly JournalLine[]): Journal {
  let isOpen = true;
  return {
    lines,
    write(record) {
      if (isOpen) writeSync(file, `${JSON.stringify(record)}\n`);
    },
    close() {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

function parseLines(text: string, attempt: string): readonly JournalLine[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      const parsed = JournalLine.safeParse(parseJson(line));
      if (parsed.success) return parsed.data;
      throw new CiError("INVALID_JOURNAL", `${attempt}: line ${index + 1} is not one that a journal has`);
    });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

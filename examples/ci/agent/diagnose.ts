import { parseCompilerErrors } from "../engine/compiler-errors.ts";
import type { CompilerError } from "../engine/compiler-errors.ts";

/** What an agent makes of a red node's log. */
export interface Diagnosis {
  /** Errors that propose their own repair, in the order of the log. */
  readonly mendable: readonly CompilerError[];
  /** The lines of the log that say most: the first compiler errors, else the end. */
  readonly excerpt: readonly string[];
}

const MOST_LINES = 6;
const MOST_COLUMNS = 160;

/** Reads a log: nothing is known here but its text. */
export function diagnose(log: string): Diagnosis {
  const errors = parseCompilerErrors(log);
  const lines = log.split("\n").filter((line) => line.trim() !== "");
  const telling = lines.filter((line) => errors.some(({ code, message }) => line.endsWith(`${code}: ${message}`)));
  const shown = telling.length > 0 ? telling.slice(0, MOST_LINES) : lines.slice(-MOST_LINES);
  return { mendable: errors.filter((error) => error.suggestion !== undefined), excerpt: shown.map(toLine) };
}

/** A line that is safe to print: no control characters, and no longer than a line. */
function toLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it is for
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
  return plain.length > MOST_COLUMNS ? `${plain.slice(0, MOST_COLUMNS - 1)}…` : plain;
}

import { escapeInvisible } from "../schema/visible-text.ts";

/** The environment of a command: everything that it would otherwise take from the process. */
export interface CliEnvironment {
  /** Home folder of the user. */
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the output goes to a terminal, and may have colours. */
  readonly isTerminal: boolean;
  /** Milliseconds until the module of an app must have loaded. @default 30000 */
  readonly loadTimeoutMs?: number;
  /** Returns the text of standard input. @throws Refusal `REFUSED` if it is larger than a lockfile may be. */
  readInput(): Promise<string>;
  /** Writes a result. */
  write(this: void, text: string): void;
  /** Writes an error or a warning. */
  complain(this: void, text: string): void;
}

/** Renders rows as lines with aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const plain = rows.map((row) => row.map(escapeInvisible));
  const widths = (plain.at(0) ?? []).map((_cell, index) => Math.max(...plain.map((row) => row[index]?.length ?? 0)));
  const lines = plain.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

import { basename, relative } from "node:path";
import { visibleLines } from "../schema/visible-text.ts";

/** The command that opens a server in the Inspector. */
export const inspector = "npx @modelcontextprotocol/inspector";

/** Returns one argument as a shell takes it. */
function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}

/** Returns the command that this process was started with; `undefined` where no file was run. */
export function ownCommand(): string | undefined {
  const [executable = "node", file, ...rest] = process.argv;
  if (file === undefined) return undefined;
  const path = relative(process.cwd(), file);
  const shown = path === "" || path.startsWith("..") ? file : path;
  return [basename(executable, ".exe"), ...process.execArgv, shown, ...rest].map(quoted).join(" ");
}

/** Writes one line for the person who started a server on a terminal. */
export function announce(line: string): void {
  process.stderr.write(`${visibleLines(line)}\n`);
}

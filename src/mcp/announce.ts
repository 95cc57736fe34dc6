import { basename, relative } from "node:path";
import type { Catalog } from "../catalog/catalog.ts";
import { visibleLines } from "../schema/visible-text.ts";
import type { Caller } from "../surface/caller.ts";
import type { AppRuntime } from "./servable-app.ts";

/** The command that opens a server in the Inspector. */
export const inspector = "npx @modelcontextprotocol/inspector";

const countedLists = [
  ["tools", "tool"],
  ["resources", "resource"],
  ["templates", "resource template"],
  ["prompts", "prompt"],
] as const satisfies readonly (readonly [keyof Catalog, string])[];

/** Returns the number of entries that a caller is shown, in words: `1 tool, 2 resources`. */
export function countShown(runtime: AppRuntime, caller: Caller): string {
  const view = runtime.viewFor(caller);
  const catalog = view.kind === "error" ? undefined : view.listedFor(caller);
  const counts = countedLists.flatMap(([list, word]) => {
    const count = catalog?.[list].length ?? 0;
    return count === 0 ? [] : [`${count} ${word}${count === 1 ? "" : "s"}`];
  });
  return counts.length === 0 ? "nothing" : counts.join(", ");
}

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

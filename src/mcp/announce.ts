import { basename, relative } from "node:path";
import type { Catalog } from "../catalog/catalog.ts";
import { escapeLogLines } from "../schema/visible-text.ts";
import { anonymous, type Caller } from "../surface/caller.ts";
import type { AppRuntime } from "./servable-app.ts";

/** The command that opens a server in the Inspector. */
export const inspector = "npx @modelcontextprotocol/inspector";

const countedLists = [
  ["tools", "tool"],
  ["resources", "resource"],
  ["templates", "resource template"],
  ["prompts", "prompt"],
] as const satisfies readonly (readonly [keyof Catalog, string])[];

/** Returns the number of entries that a caller is shown, in words: `1 tool, 2 resources`; `undefined` for none. */
function countShown(runtime: AppRuntime, caller: Caller): string | undefined {
  const view = runtime.viewFor(caller);
  const catalog = view.kind === "error" ? undefined : view.listedFor(caller);
  const counts = countedLists.flatMap(([list, word]) => {
    const count = catalog?.[list].length ?? 0;
    return count === 0 ? [] : [`${count} ${word}${count === 1 ? "" : "s"}`];
  });
  return counts.length === 0 ? undefined : counts.join(", ");
}

/** Returns one argument as a shell takes it. */
export function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}

/** The loaders that `tsx` passes to Node, each after the name of an option. */
const tsxLoader = /[\\/]tsx[\\/]dist[\\/](?:preflight|loader)\.[cm]js$/;

/** Returns the start of a command as a person types it: `npx tsx` instead of Node with the loaders of `tsx`. */
function ownExecutable(executable: string): readonly string[] {
  const options = process.execArgv;
  const others = options.filter(
    (option, index) => !tsxLoader.test(option) && !tsxLoader.test(options[index + 1] ?? ""),
  );
  if (others.length === options.length) return [basename(executable, ".exe"), ...options];
  return ["npx", "tsx", ...others];
}

/** Returns the command that this process was started with; `undefined` where no file was run. */
export function ownCommand(): string | undefined {
  const [executable = "node", file, ...rest] = process.argv;
  if (file === undefined) return undefined;
  const path = relative(process.cwd(), file);
  const shown = path === "" || path.startsWith("..") ? file : path;
  return [...ownExecutable(executable), shown, ...rest].map(quoted).join(" ");
}

/** A server that has started. */
interface Announcement {
  readonly runtime: AppRuntime;
  /** The caller whose entries are counted. @default the anonymous one */
  readonly caller?: Caller;
  /** The address or stream of the server, and the command that inspects it. */
  readonly served: string;
  /** Whether a person started the server on a terminal. */
  readonly isTerminal: boolean;
}

/**
 * Writes a line about a started server to standard error, for a person on a terminal. A server that shows nothing, and never will,
 * always says so.
 */
export function announce({ runtime, caller = anonymous, served, isTerminal }: Announcement): void {
  const shown = countShown(runtime, caller);
  const isEmpty = shown === undefined && runtime.changing.size === 0;
  if (!isEmpty && !isTerminal) return;
  const advice =
    "agents can reach nothing: tag a member with mcpTool() or mcpResource(), or grant the scopes that tools need";
  const what = isEmpty ? advice : `${shown ?? "nothing yet"} ${served}`;
  process.stderr.write(`${escapeLogLines(`${runtime.info.name}: ${what}`)}\n`);
}

import { codeOf, SurfaceError } from "../errors.ts";
import { isUsage, usage } from "./cli-errors.ts";
import type { CliEnvironment } from "./terminal.ts";
import { audit } from "./audit.ts";
import { check } from "./check.ts";
import { dev } from "./dev/dev.ts";
import { serveGeneration } from "./dev/serve-generation.ts";
import { init } from "./init.ts";
import { inspect } from "./inspect.ts";
import { install } from "./install/install.ts";
import { lock } from "./lock.ts";
import { call, read, watch } from "./operate.ts";
import { readVersion } from "./files.ts";
import { escapeInvisible } from "../schema/visible-text.ts";
import { replay } from "./replay.ts";

/** The text of `--help`. */
const helpText = `usage: surface-mcp COMMAND

  init [FOLDER] [options]                      write a new server with tests into a folder; the default is this folder
  install CLIENT [options] --url URL           write a server into the configuration of a client
  install CLIENT [options] -- COMMAND ARGS     write a server that the client starts as a process
  install --list [CLIENT]                      list the servers of all clients, or of one
  install --remove ALIAS [CLIENT]              remove a server
  lock APP_MODULE [--out FILE]                 write everything that agents can reach in an app to a lockfile
  check APP_MODULE [options]                   compare an app with its lockfile
  inspect SERVER [--json]                      list everything that agents can reach in an app, and what they cannot
  inspect --web SOCKET [--port N]              show the live page of a server over stdio in a browser
  dev APP_MODULE [options]                     serve an app, reload it when a file changes, and show its requests
  call SERVER TOOL [JSON] [options]            call a tool, and print its result
  read SERVER URI [options]                    read a resource
  watch SERVER URI [options]                   print a resource, now and after each change
  replay APP_MODULE [options]                  show what a view of an app exposes, and what hides the rest
  audit verify FILE... [--has HASH]            check the hash chain of an audit log over its rotated files

clients: claude-desktop, claude-code, cursor, vscode, codex

options of init
  --template NAME     stdio (default) or express
  --package SPEC      the version of surface-mcp, or the path of its archive; the default is this version

options of install
  --surface NAME      the view to use; a COMMAND receives it as "--surface NAME"
  --project NAME      the project to use, passed in the same way
  --name ALIAS        the name of the server in the client
  --scope SCOPE       user (default): in all your folders; project: in the present folder
  --token-env VAR     the environment variable with the token for a URL; the token itself is never written
  --print             print the entry, and change nothing

SERVER of inspect, call, read and watch: a module that exports an app, "--url URL", or "-- COMMAND ARGS" at the end

options of call, read and watch
  --surface NAME      the view, for an app in this process
  --token-env VAR     the environment variable with the token for a URL; also for inspect
  --yes               agree when the tool asks for a confirmation
  --count N           end after N lines; for watch

options of lock, check, inspect, dev, replay, call, read and watch
  --export NAME       the export that is the app; the default is the default export, or "app"

options of dev
  --stdio             serve over standard input and output; the default is HTTP on this machine
  --port N            the port; the default is 4000, and 0 is any free one

options of inspect --web
  SOCKET              the path that SURFACE_MCP_INSPECT has for the server
  --port N            the port of the page on this machine; the default is any free one

options of lock
  --out FILE          the lockfile; the default is exposure.lock.json

options of check
  --base FILE         the lockfile to compare with, or "-" for standard input; the default is exposure.lock.json
  --format FORMAT     text (default), markdown, json or github

options of replay
  --surface NAME      the view; the default is "default"
  --project NAME      the project
  --principal ID      a caller with a token; the default is the local user, as over stdio
  --client NAME       the name of the client, or NAME@VERSION
  --user-agent TEXT   the user agent of the client
  --scopes A,B        the scopes of the caller; with --principal it needs NAME:read and NAME:write of the surface
  --json              write JSON

options of audit verify
  --has HASH          the "last" of an earlier run, which a record must have

  --help, --version

exit codes: 0 done, 1 refused, 2 wrong usage
exit codes of lock, check and inspect: 0 done, or the app is as locked; 1 it differs; 2 the command cannot tell
exit codes of audit verify: 0 intact; 1 broken; 2 the command cannot read a file
exit codes of call, read and watch: 0 done, 1 the server refused it or the tool failed, 2 wrong usage or no server
`;

/** Exit code of the process. */
export type ExitCode = 0 | 1 | 2;

/** A command. It may return an exit code. @default 0 */
type Command = (args: readonly string[], setting: CliEnvironment) => Promise<ExitCode | void>;

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["init", init],
  ["install", install],
  ["lock", lock],
  ["check", check],
  ["inspect", inspect],
  ["dev", dev],
  ["dev-generation", serveGeneration],
  ["call", call],
  ["read", read],
  ["watch", watch],
  ["replay", replay],
  ["audit", audit],
]);
/** Started by `dev` only. */
const hidden = "dev-generation";
const names = [...commands.keys()].filter((name) => name !== hidden).join(", ");

/** Commands that exit with 2 if they fail, since 1 says that an app differs, that a log is broken, or that a server refused. */
const telling: ReadonlySet<string | undefined> = new Set([
  ...["lock", "check", "inspect", "call", "read", "watch", "audit", "dev"],
]);

async function run([word, ...args]: readonly string[], setting: CliEnvironment): Promise<ExitCode | void> {
  const command = commands.get(word ?? "");
  if (command !== undefined) return args.includes("--help") ? setting.write(helpText) : command(args, setting);
  switch (word) {
    case "--help":
    case "-h":
      return setting.write(helpText);
    case "--version":
    case "-v":
      return setting.write(`${readVersion()}\n`);
    case undefined:
      throw usage(`Cannot run: name a command of ${names}`);
    default:
      throw usage(`Cannot run "${word}": the command must be one of ${names}`);
  }
}

/** Returns whether an error is about the command line: ours, or one of `parseArgs` of Node. */
function isMisspelt(error: unknown): boolean {
  return isUsage(error) || codeOf(error).startsWith("ERR_PARSE_ARGS");
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof SurfaceError ? `${error.code}: ${error.message}` : error.message;
}

/** Runs one command line and returns the exit code. Never rejects. */
export async function runCli(args: readonly string[], setting: CliEnvironment): Promise<ExitCode> {
  try {
    return (await run(args, setting)) ?? 0;
  } catch (error) {
    const isWrong = isMisspelt(error);
    setting.complain(`surface-mcp: ${escapeInvisible(messageOf(error))}\n`);
    if (isWrong) setting.complain(`surface-mcp: see "surface-mcp --help"\n`);
    return isWrong || telling.has(args[0]) ? 2 : 1;
  }
}

import { SurfaceError } from "../errors.ts";
import { isUsage, usage } from "./cli-errors.ts";
import type { CliSetting } from "./cli-setting.ts";
import { helpText } from "./help-text.ts";
import { init } from "./init.ts";
import { install } from "./install.ts";
import { readVersion } from "./files.ts";
import { visibleText } from "../schema/visible-text.ts";
import { replay } from "./replay.ts";

/** What the process exits with. */
export type ExitCode = 0 | 1 | 2;

const commands = new Map([
  ["init", init],
  ["install", install],
  ["replay", replay],
]);
const names = [...commands.keys()].join(", ");

async function run([word, ...args]: readonly string[], setting: CliSetting): Promise<void> {
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
      throw usage(`name a command: ${names}`);
    default:
      throw usage(`the command must be one of ${names}, is "${word}"`);
  }
}

/** What node's own parser of arguments says is about the command line, too. */
function isMisspelt(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return isUsage(error) || (typeof code === "string" && code.startsWith("ERR_PARSE_ARGS"));
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof SurfaceError ? `${error.code}: ${error.message}` : error.message;
}

/** Runs one command line, and says how it went. Never rejects. */
export async function runCli(args: readonly string[], setting: CliSetting): Promise<ExitCode> {
  try {
    await run(args, setting);
    return 0;
  } catch (error) {
    const isWrong = isMisspelt(error);
    setting.complain(`surface-mcp: ${visibleText(messageOf(error))}\n`);
    if (isWrong) setting.complain(`surface-mcp: see "surface-mcp --help"\n`);
    return isWrong ? 2 : 1;
  }
}

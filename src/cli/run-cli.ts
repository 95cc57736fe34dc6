import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { SurfaceError } from "../errors.ts";
import { isUsage, usage } from "./cli-errors.ts";
import type { CliSetting } from "./cli-setting.ts";
import { helpText } from "./help-text.ts";
import { install } from "./install.ts";
import { visibleText } from "../schema/visible-text.ts";
import { replay } from "./replay.ts";

/** What the process exits with. */
export type ExitCode = 0 | 1 | 2;

function readVersion(): string {
  // By the package's own name, since this module is built to more than one place.
  const path = createRequire(import.meta.url).resolve("surface-mcp/package.json");
  // The package's own manifest.
  return (JSON.parse(readFileSync(path, "utf8")) as { readonly version: string }).version;
}

async function run([command, ...args]: readonly string[], setting: CliSetting): Promise<void> {
  switch (command) {
    case "install":
      return args.includes("--help") ? setting.write(helpText) : install(args, setting);
    case "replay":
      return args.includes("--help") ? setting.write(helpText) : replay(args, setting);
    case "--help":
    case "-h":
      return setting.write(helpText);
    case "--version":
    case "-v":
      return setting.write(`${readVersion()}\n`);
    case undefined:
      throw usage("a command must be given: install or replay");
    default:
      throw usage(`the command must be install or replay, is "${command}"`);
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

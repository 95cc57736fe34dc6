import { parseArgs, type ParseArgsConfig } from "node:util";
import { isApp } from "../lock/read-exposure.ts";
import { usage } from "./cli-errors.ts";
import { loadApp } from "./load-app.ts";
import type { CliEnvironment } from "./terminal.ts";

/** The options of a command, as `parseArgs` of Node takes them. */
export type Flags = NonNullable<ParseArgsConfig["options"]>;

/** The values of options by name; `true` for a flag. */
type Values = Readonly<Record<string, string | boolean | undefined>>;

/** The arguments of a command. */
export interface CommandArguments {
  readonly positionals: readonly string[];
  /** Returns the text of an option; `undefined` without it. */
  text(name: string): string | undefined;
  has(name: string): boolean;
}

/** The arguments of a command about one app. */
export interface AppArguments extends CommandArguments {
  /** The path of the module that exports the app. */
  readonly module: string;
}

/**
 * Reads the arguments of a command, of whose options none may be repeated or empty.
 *
 * @param doing - starts messages.
 * @throws Refusal `USAGE`, and errors of `parseArgs`.
 */
export function readArguments(args: readonly string[], options: Flags, doing: string): CommandArguments {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  // No option may be repeated.
  const given = values as Values;
  const empty = Object.keys(given).find((name) => given[name] === "");
  if (empty !== undefined) throw usage(`${doing}: "--${empty}" must not be empty`);
  return {
    positionals,
    text(name) {
      const value = given[name];
      return typeof value === "string" ? value : undefined;
    },
    has: (name) => given[name] === true,
  };
}

/** Reads the option `--port`. @throws Refusal `USAGE`. */
export function readPort(given: CommandArguments, byDefault: number, doing: string): number {
  const text = given.text("port");
  const port = text === undefined ? byDefault : Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw usage(`${doing}: "--port" must be a number from 0 to 65535, is "${text}"`);
}

/**
 * Reads the arguments of a command about one app: a module, the option `--export`, and others.
 *
 * @throws as {@link readArguments}.
 */
export function readAppArguments(args: readonly string[], flags: Flags, doing: string): AppArguments {
  const given = readArguments(args, { ...flags, export: { type: "string" } }, doing);
  const [module, ...more] = given.positionals;
  if (module === undefined || more.length > 0) throw usage(`${doing}: name one module that exports an app`);
  return { ...given, module };
}

/** Loads the app that the arguments name. @throws as {@link loadApp}. */
export function loadNamedApp(args: AppArguments, { cwd, loadTimeoutMs }: CliEnvironment): Promise<object> {
  return loadApp({ given: args.module, cwd, exported: args.text("export"), timeoutMs: loadTimeoutMs, isApp });
}

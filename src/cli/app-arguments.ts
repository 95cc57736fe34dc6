import { parseArgs, type ParseArgsConfig } from "node:util";
import { isApp } from "../lock/read-exposure.ts";
import { usage } from "./cli-errors.ts";
import { loadApp } from "./load-app.ts";
import type { CliEnvironment } from "./terminal.ts";

type Flags = NonNullable<ParseArgsConfig["options"]>;

/** The values of options by name; `true` for a flag. */
type Values = Readonly<Record<string, string | boolean | undefined>>;

/** The arguments of a command about one app. */
export interface AppArguments {
  /** The path of the module that exports the app. */
  readonly module: string;
  /** Returns the text of an option; `undefined` without it. */
  text(name: string): string | undefined;
  has(name: string): boolean;
}

/**
 * Reads the arguments of a command about one app: a module, the option `--export`, and others.
 *
 * @param doing - starts messages.
 * @throws Refusal `USAGE`.
 */
export function readAppArguments(args: readonly string[], flags: Flags, doing: string): AppArguments {
  const options: Flags = { ...flags, export: { type: "string" } };
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  const [module, ...more] = positionals;
  if (module === undefined || more.length > 0) throw usage(`${doing}: name one module that exports an app`);
  // No option may be repeated.
  const given = values as Values;
  const empty = Object.keys(given).find((name) => given[name] === "");
  if (empty !== undefined) throw usage(`${doing}: "--${empty}" must not be empty`);
  return {
    module,
    text(name) {
      const value = given[name];
      return typeof value === "string" ? value : undefined;
    },
    has: (name) => given[name] === true,
  };
}

/** Loads the app that the arguments name. @throws as {@link loadApp}. */
export function loadNamedApp(args: AppArguments, { cwd, loadTimeoutMs }: CliEnvironment): Promise<object> {
  return loadApp({ given: args.module, cwd, exported: args.text("export"), timeoutMs: loadTimeoutMs, isApp });
}

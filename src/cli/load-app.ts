import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { codeOf, type Refusal } from "../errors.ts";
import { startingChannel } from "../http/starting.ts";
import { refused } from "./cli-errors.ts";

type Module = Readonly<Record<string, unknown>>;

/** The module to load an app from. */
export interface AppModule<TApp> {
  /** The path as the user wrote it. */
  readonly given: string;
  readonly cwd: string;
  /** The name of the export. @default the default export, or `app` */
  readonly exported?: string | undefined;
  /** Milliseconds until the module must have loaded. @default 30000 */
  readonly timeoutMs?: number | undefined;
  readonly isApp: (value: unknown) => value is TApp;
}

const defaultTimeoutMs = 30_000;

/** Node's codes of connections that cannot be made. */
const networkCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EAI_AGAIN",
]);

async function importFile(path: string): Promise<Module> {
  // A module is an object of its exports.
  return (await import(pathToFileURL(path).href)) as Module;
}

/** Lets Node run TypeScript by the project's own tsx, as `--import tsx` does, if Node cannot and the project has it. */
async function enableTypeScript(path: string): Promise<void> {
  if (!/\.[cm]?tsx?$/.test(path) || Boolean(Reflect.get(process.features, "typescript"))) return;
  try {
    await importFile(createRequire(path).resolve("tsx"));
  } catch {
    // Importing the file explains what is missing.
  }
}

function callsServe(given: string): Refusal {
  return refused(`Cannot load "${given}": it calls serve(); name the module that only makes the app`);
}

function toLoadError(error: unknown, given: string): unknown {
  const code = codeOf(error);
  // The command guards standard output, so a module that serves fails. It may load another copy of the package, so compare the code.
  if (code === "CONTRADICTION" && String(error).includes("already being served")) {
    return callsServe(given);
  }
  if (networkCodes.has(code)) {
    const reason = error instanceof Error && error.message !== "" ? error.message : code;
    return refused(
      `Cannot load "${given}": it needs a connection (${reason}); make the app without one, and connect in its handlers`,
    );
  }
  if (code !== "ERR_UNKNOWN_FILE_EXTENSION") return error;
  return refused(
    `Cannot load "${given}": Node ${process.versions.node} cannot run this file type; compile it first, install tsx, or set ` +
      `NODE_OPTIONS="--import tsx" for TypeScript`,
  );
}

/** Returns the number of listening sockets of this process. */
function countServers(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(?:TCP|Pipe)ServerWrap$/.test(name)).length;
}

/** Imports a module that must not wait, end the process, or leave an error uncaught: the exit code would then say something else. */
async function importWithin(path: string, given: string, timeoutMs: number): Promise<Module> {
  const late = `Cannot load "${given}": it has not loaded after ${timeoutMs / 1000} s; the module must not wait for anything`;
  const onExit = (): void => {
    process.stderr.write(`surface-mcp: Cannot load "${given}": it ends the process\n`);
    process.exitCode = 2;
  };
  let stop: (cause: Error) => void = () => {};
  const stopped = new Promise<never>((_resolve, reject) => (stop = reject));
  const timer = setTimeout(() => stop(refused(late)), timeoutMs);
  const onServe = (): void => stop(callsServe(given));
  process.once("exit", onExit).once("uncaughtException", stop);
  // A module that does not wait for its server listens only later.
  subscribe(startingChannel.name, onServe);
  const importing = async (): Promise<Module> => {
    const loaded = await importFile(path);
    // What the module did not wait for has failed, or listens, by then.
    await new Promise((done) => setImmediate(done));
    return loaded;
  };
  try {
    return await Promise.race([importing(), stopped]);
  } catch (error) {
    throw toLoadError(error, given);
  } finally {
    clearTimeout(timer);
    unsubscribe(startingChannel.name, onServe);
    process.off("exit", onExit).off("uncaughtException", stop);
  }
}

/** @throws Refusal `REFUSED` unless exactly one app is exported under the names. */
function findApp<TApp>(loaded: Module, { given, exported, isApp }: AppModule<TApp>): TApp {
  const names = exported === undefined ? ["default", "app"] : [exported];
  const [app, other] = new Set(names.map((name) => loaded[name]).filter(isApp));
  if (other !== undefined) {
    throw refused(`Cannot load "${given}": its default and "app" are different apps; name one by "--export"`);
  }
  if (app !== undefined) return app;
  if (exported !== undefined) throw refused(`Cannot load "${given}": its export "${exported}" is not an app`);
  const others = Object.keys(loaded).filter((name) => isApp(loaded[name]));
  const hint = others.length === 0 ? "" : `; "--export" names another export: ${others.join(", ")}`;
  throw refused(`Cannot load "${given}": it must export an app, as its default or as "app"${hint}`);
}

/**
 * Loads the app that a module exports. The module runs, and must not serve the app.
 *
 * @throws Refusal `REFUSED` for a file that does not exist, does not load in time, starts a server, or does not export one app, and
 *   any error of the module.
 */
export async function loadApp<TApp>(module: AppModule<TApp>): Promise<TApp> {
  const { given, cwd, timeoutMs = defaultTimeoutMs } = module;
  const path = resolve(cwd, given);
  if (!existsSync(path)) throw refused(`Cannot load "${given}": the file does not exist`);
  await enableTypeScript(path);
  const before = countServers();
  const loaded = await importWithin(path, given, timeoutMs);
  if (countServers() > before) {
    throw refused(`Cannot load "${given}": it starts a server; name the module that only makes the app`);
  }
  return findApp(loaded, module);
}

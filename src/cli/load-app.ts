import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ReplayOptions } from "../builder/replay-app.ts";
import type { ViewReplay } from "../views/replay-view.ts";
import { refused } from "./cli-errors.ts";
import { codeOf } from "./file-errors.ts";

/** What `replay` needs of an app. */
export interface ReplayableApp {
  replay(options: ReplayOptions): ViewReplay;
}

function isReplayable(value: unknown): value is ReplayableApp {
  return typeof value === "object" && value !== null && "replay" in value && typeof value.replay === "function";
}

async function load(path: string, given: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    // A module is an object of its exports.
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    // This command guards standard output, so a module that serves finds it taken. Its copy of the package may be another one.
    if (codeOf(error) === "CONTRADICTION" && String(error).includes("already being served")) {
      throw refused(`Loading "${given}": it calls serve(); name the module that only makes the app`);
    }
    if (codeOf(error) !== "ERR_UNKNOWN_FILE_EXTENSION") throw error;
    throw refused(
      `Loading "${given}": Node ${process.versions.node} must be able to run it: compile it first, or set ` +
        `NODE_OPTIONS="--import tsx" where it is TypeScript`,
    );
  }
}

/**
 * Loads the app that a module exports, as its default or as `app`. The module runs: it is to make the app, and not to serve
 * it.
 *
 * @throws Refusal `REFUSED` where there is no such module or no app in it. What the module throws goes on as it is.
 */
export async function loadApp(given: string, cwd: string): Promise<ReplayableApp> {
  const path = resolve(cwd, given);
  if (!existsSync(path)) throw refused(`Loading "${given}": there is no such file`);
  const loaded = await load(path, given);
  const app = [loaded["default"], loaded["app"]].find(isReplayable);
  if (app === undefined) throw refused(`Loading "${given}": an app must be its default export, or its export "app"`);
  return app;
}

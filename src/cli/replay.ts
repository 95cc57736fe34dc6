import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs, type ParseArgsConfig } from "node:util";
import type { ReplayOptions } from "../builder/assemble-app.ts";
import { codeOf } from "../errors.ts";
import { isScopeToken } from "../http/auth/caller-fields.ts";
import { escapeInvisible } from "../schema/visible-text.ts";
import { anonymous, type Caller, type CallerView, defaultView } from "../surface/caller.ts";
import { unknownView } from "../views/compile-rules.ts";
import type { ViewReplay } from "../views/replay-view.ts";
import { refused, usage } from "./cli-errors.ts";
import { columns, type CliEnvironment } from "./terminal.ts";

/** The arguments of `replay`. */
interface ReplayRequest {
  /** The path of the module that exports the app. */
  readonly module: string;
  readonly options: ReplayOptions;
  readonly isJson: boolean;
}

const flags = {
  surface: { type: "string" },
  project: { type: "string" },
  principal: { type: "string" },
  client: { type: "string" },
  "user-agent": { type: "string" },
  scopes: { type: "string" },
  json: { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

type Values = ReturnType<typeof parseArgs<{ options: typeof flags }>>["values"];

/** Reads `name@version`. The name of a package may begin with "@". */
function readClient(text: string): NonNullable<CallerView["client"]> {
  const at = text.lastIndexOf("@");
  return at > 0 ? { name: text.slice(0, at), version: text.slice(at + 1) } : { name: text, version: "" };
}

function readScopes(text: string | undefined): readonly string[] {
  const scopes = text?.split(",") ?? anonymous.scopes;
  if (scopes.every(isScopeToken)) return scopes;
  throw usage(`Cannot replay: "--scopes" must be scopes separated by ",", is "${text}"`);
}

/** Returns the caller that the arguments describe; `undefined` without any. */
function readCaller({ surface, principal, client, "user-agent": userAgent, scopes }: Values): Caller | undefined {
  if ([principal, client, userAgent, scopes].every((value) => value === undefined)) return undefined;
  const view: CallerView = {
    surface: surface ?? defaultView,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(client === undefined ? {} : { client: readClient(client) }),
  };
  return { id: principal ?? anonymous.id, isAnonymous: principal === undefined, scopes: readScopes(scopes), view };
}

/** @throws Refusal `USAGE`. */
function readReplayArgs(args: readonly string[]): ReplayRequest {
  const { values, positionals } = parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true });
  const [module, ...more] = positionals;
  if (module === undefined || more.length > 0) throw usage(`Cannot replay: name one module that exports an app`);
  const empty = Object.entries(values).find(([, value]) => value === "");
  if (empty !== undefined) throw usage(`Cannot replay: "--${empty[0]}" must not be empty`);
  const { surface, project, json } = values;
  const caller = readCaller(values);
  const asked = {
    ...(surface === undefined ? {} : { surface }),
    ...(project === undefined ? {} : { project }),
    ...(caller === undefined ? {} : { caller }),
  };
  return { module, options: asked, isJson: json === true };
}

interface ReplayableApp {
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
    // The command guards standard output, so a module that serves fails. It may load another copy of the package, so compare the code.
    if (codeOf(error) === "CONTRADICTION" && String(error).includes("already being served")) {
      throw refused(`Cannot load "${given}": it calls serve(); name the module that only makes the app`);
    }
    if (codeOf(error) !== "ERR_UNKNOWN_FILE_EXTENSION") throw error;
    throw refused(
      `Cannot load "${given}": Node ${process.versions.node} cannot run this file type; compile it first, or set ` +
        `NODE_OPTIONS="--import tsx" for TypeScript`,
    );
  }
}

/**
 * Loads the app that a module exports, as its default or as `app`. The module runs, and must not serve the app.
 *
 * @throws Refusal `REFUSED` for a file that does not exist or exports no app, and any error of the module.
 */
async function loadApp(given: string, cwd: string): Promise<ReplayableApp> {
  const path = resolve(cwd, given);
  if (!existsSync(path)) throw refused(`Cannot load "${given}": the file does not exist`);
  const loaded = await load(path, given);
  const app = [loaded["default"], loaded["app"]].find(isReplayable);
  if (app === undefined) throw refused(`Cannot load "${given}": it must export an app, as its default or as "app"`);
  return app;
}

interface Section {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

function headOf({ entity, verdict }: ViewReplay): readonly (readonly string[])[] {
  const outcome = verdict.kind === "deny" ? `denied: ${verdict.reason}` : `${verdict.face ?? "direct"} face`;
  const { client, principal = "the local user, as over stdio", ...plain } = entity;
  const shown = client === undefined ? {} : { client: `${client.name} ${client.version}` };
  return [...Object.entries({ ...plain, ...shown, caller: principal }), ["verdict", outcome]];
}

const namesOf = (names: readonly string[]): readonly (readonly string[])[] => names.map((name) => ["", name]);

function sectionsOf(replayed: ViewReplay): readonly Section[] {
  const { visible_tools, visible_tool_count, visible_resources, operations, hidden } = replayed;
  return [
    { title: `tools (${visible_tool_count})`, rows: namesOf(visible_tools) },
    ...(operations === undefined
      ? []
      : [{ title: `operations behind them (${operations.length})`, rows: namesOf(operations) }]),
    { title: `resources (${visible_resources.length})`, rows: namesOf(visible_resources) },
    { title: `hidden (${hidden.length})`, rows: hidden.map(({ name, by }) => ["", name, by]) },
  ];
}

/** Renders a replay for people: the caller, the verdict, what is visible and what hides the rest. Headings are bold on a terminal. */
function renderReplay(replayed: ViewReplay, isTerminal: boolean): string {
  const emphasise = (text: string): string => (isTerminal ? `\u001B[1m${text}\u001B[22m` : text);
  const sections = sectionsOf(replayed).map(
    ({ title, rows }) => `\n${emphasise(escapeInvisible(title))}\n${columns(rows)}`,
  );
  return columns(headOf(replayed)) + sections.join("");
}

/**
 * Writes what a view of an app exposes, and what hides the rest, without serving the app.
 *
 * @throws Refusal `USAGE` or `REFUSED`, for an unknown view after it was written, and any error of the app's module.
 */
export async function replay(args: readonly string[], setting: CliEnvironment): Promise<void> {
  const { module, options, isJson } = readReplayArgs(args);
  const app = await loadApp(module, setting.cwd);
  const replayed = app.replay(options);
  setting.write(isJson ? `${JSON.stringify(replayed, null, 2)}\n` : renderReplay(replayed, setting.isTerminal));
  const { entity, verdict } = replayed;
  if (verdict.kind === "deny" && verdict.reason === unknownView) {
    throw refused(`Cannot replay: the app has no view "${entity.surface}"`);
  }
}
